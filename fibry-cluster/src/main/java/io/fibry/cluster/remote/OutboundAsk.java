package io.fibry.cluster.remote;

import io.fibry.Request;
import io.fibry.cluster.wire.Protocol;

/** An encoded request. */
record OutboundAsk<R>(RemoteAddress address, Request<?, R> request, byte[] body, String context)
    implements Request<OutboundAsk<R>, R>, OutboundRequest<R> {
  @Override
  public R decodeAnswer(byte[] bytes) {
    return Protocol.decodeAnswer(request, bytes);
  }

  @Override
  public String toString() {
    return request.toString();
  }
}
