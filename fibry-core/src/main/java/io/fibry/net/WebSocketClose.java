package io.fibry.net;

import java.util.Objects;

/**
 * How a WebSocket was closed. Immutable and thread-safe.
 *
 * @param code as in RFC 6455, section 7.4; 1005 if the client gave no code, 1006 if the client
 * disconnected without a close
 * @param reason a text for the other side; may be empty
 */
public record WebSocketClose(int code, String reason) {
  /** Refuses null. */
  public WebSocketClose {
    Objects.requireNonNull(reason, "reason");
  }
}
