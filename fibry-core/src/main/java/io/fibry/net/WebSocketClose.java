package io.fibry.net;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * How a WebSocket was closed. Immutable and thread-safe.
 *
 * @param code as in RFC 6455, section 7.4; 1005 if the client gave none, 1006 if it disconnected
 * without a close
 * @param reason perhaps empty
 */
public record WebSocketClose(int code, String reason) {
  static final int NORMAL = 1000;
  static final int GOING_AWAY = 1001;
  static final int PROTOCOL_ERROR = 1002;
  static final int UNSUPPORTED = 1003;
  static final int NONE = 1005; // never sent
  static final int GONE = 1006; // never sent
  static final int INVALID = 1007;
  static final int TOO_BIG = 1009;
  static final int FAILED = 1011;
  static final int TRY_LATER = 1013;
  // bytes; the code takes two
  private static final int MAX_REASON = WebSocketFrame.MAX_CONTROL - 2;

  /** Refuses null. */
  public WebSocketClose {
    Objects.requireNonNull(reason, "reason");
  }

  WebSocketClose(int code) {
    this(code, "");
  }

  /** Returns whether a close frame may have this code. */
  static boolean isCode(int code) {
    return code >= 1000 && code <= 1014 && code != 1004 && code != NONE && code != GONE || code >= 3000 && code < 5000;
  }

  /** Makes a close with the code and the reason of a user. */
  static WebSocketClose of(int code, String reason) {
    var close = new WebSocketClose(code, reason);
    if (!isCode(code)) throw new IllegalArgumentException("a close with code " + code
        + ", which no frame may have; give 1000 for the normal end, 3000 to 4999 for one of your own");
    int size = WebSocketFrame.utf8Size(reason);
    if (size > MAX_REASON) throw new IllegalArgumentException(
        "a close with a reason of " + size + " bytes; give at most " + MAX_REASON + ", or send a message before");
    return close;
  }

  /** Returns the content of the close frame. */
  byte[] data() {
    var reasonBytes = reason.getBytes(StandardCharsets.UTF_8);
    var data = new byte[code == NONE ? 0 : 2 + reasonBytes.length];
    if (data.length == 0) return data;
    data[0] = (byte) (code >> 8);
    data[1] = (byte) code;
    System.arraycopy(reasonBytes, 0, data, 2, reasonBytes.length);
    return data;
  }
}
