package io.fibry.net.websocket;

import io.fibry.net.WebSocketClose;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Makes and checks the content of close frames, by RFC 6455, section 7.4. */
final class CloseFrame {
  static final int NORMAL = 1000;
  static final int GOING_AWAY = 1001;
  static final int PROTOCOL_ERROR = 1002;
  static final int UNSUPPORTED = 1003;
  static final int NO_CODE = 1005; // the client gave no code; never sent
  static final int DISCONNECTED = 1006; // the client disconnected without a close; never sent
  static final int INVALID = 1007;
  // The generic code for a client that does not keep to the limits of the server. The registry of
  // IANA has 1013 for an overloaded server, and asks clients to reconnect only when a user wants it
  static final int POLICY_VIOLATION = 1008;
  static final int TOO_BIG = 1009;
  static final int INTERNAL_ERROR = 1011;
  static final int TRY_LATER = 1013;
  // bytes; the code takes two of the frame's bytes
  private static final int MAX_REASON = WebSocketFrames.MAX_CONTROL - 2;

  private CloseFrame() {}

  /** Returns whether a close frame may have this code. */
  static boolean isCode(int code) {
    return code >= 1000 && code <= 1014 && code != 1004 && code != NO_CODE && code != DISCONNECTED
        || code >= 3000 && code < 5000;
  }

  static WebSocketClose closeWith(int code) {
    return new WebSocketClose(code, "");
  }

  /** Makes a close with the code and the reason of a user. Throws if a frame cannot have them. */
  static WebSocketClose checkedClose(int code, String reason) {
    var close = new WebSocketClose(code, reason);
    if (!isCode(code)) throw new IllegalArgumentException("a close frame cannot have the code "
        + code + "; give 1000 for the normal end, or 4000 to 4999 for a code of your own");
    int size = WebSocketFrames.utf8Size(reason);
    if (size > MAX_REASON) throw new IllegalArgumentException(
        "a close frame cannot have a reason of " + size + " bytes; give at most " + MAX_REASON
            + ", or send a message before");
    return close;
  }

  /** Returns the text, cut to the whole characters that fit into a close frame. */
  static String fitReason(String text) {
    var rest = CharBuffer.wrap(text);
    StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE)
        .encode(rest, ByteBuffer.allocate(MAX_REASON), true); // stops before the first character that does not fit
    return text.substring(0, rest.position());
  }

  /** Returns the content of the frame. */
  static byte[] encode(WebSocketClose close) {
    var reasonBytes = close.reason().getBytes(StandardCharsets.UTF_8);
    var data = new byte[close.code() == NO_CODE ? 0 : 2 + reasonBytes.length];
    if (data.length == 0) return data;
    data[0] = (byte) (close.code() >> 8);
    data[1] = (byte) close.code();
    System.arraycopy(reasonBytes, 0, data, 2, reasonBytes.length);
    return data;
  }
}
