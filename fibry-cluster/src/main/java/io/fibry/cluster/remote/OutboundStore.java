package io.fibry.cluster.remote;

import io.fibry.Request;
import io.fibry.cluster.wire.Destination;
import java.util.Map;

/** An encoded message that is stored before it is handled. */
record OutboundStore(RemoteAddress address, Object message, byte[] body, String context)
    implements Request<OutboundStore, Boolean>, OutboundRequest<Boolean> {
  @Override
  public Request<?, Boolean> request() {
    return this;
  }

  @Override
  public Object describedMessage() {
    return message;
  }

  @Override
  public Map<String, String> headers(Destination destination) {
    var headers = OutboundRequest.super.headers(destination);
    headers.put(Destination.STORE, "");
    return headers;
  }

  @Override
  public Boolean decodeAnswer(byte[] bytes) {
    return true;
  }

  @Override
  public String toString() {
    return message.toString();
  }
}
