package io.fibry.cluster;

import io.fibry.Request;

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
