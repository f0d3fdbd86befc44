package io.fibry.cluster.remote;

import io.fibry.Request;
import io.fibry.cluster.wire.Destination;
import java.util.Map;

/** An encoded message that expects an answer. */
public sealed interface OutboundRequest<R> permits OutboundAsk, OutboundStore, TellBundle {
  RemoteAddress address();

  byte[] body();

  /** {@return the text of the context propagators, or an empty text} */
  String context();

  /** {@return the request that exceptions refer to} */
  Request<?, R> request();

  /**
   * {@return the message that exception texts describe} If the scope hides contents, the texts
   * name only its class.
   */
  default Object describedMessage() {
    return request();
  }

  default Map<String, String> headers(Destination destination) {
    var headers = destination.headers(address().key());
    if (!context().isEmpty()) headers.put(Destination.CONTEXT, context());
    return headers;
  }

  R decodeAnswer(byte[] bytes);
}
