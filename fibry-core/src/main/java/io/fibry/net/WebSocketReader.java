package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The messages of a client, from its frames. What RFC 6455 does not allow is refused at the first
 * byte that shows it. A length alone takes no memory.
 */
final class WebSocketReader extends ClientReader<WebSocketMessage> {

  /** The frames that the reader sends back. */
  interface FrameResponder {
    void pong(byte[] data) throws IOException;

    /** The client has closed. */
    void closed(WebSocketClose close);

    /** The connection closes, for what the client has sent. */
    void close(WebSocketClose close);

    /** No message counts any more. */
    boolean isClosing();
  }

  private static final byte[] NOTHING = {};

  private final FrameResponder responder;
  private final int maxFrame;
  // set by the thread that reads, cleared by pings: a lost write costs or saves one of them
  volatile boolean heard;
  private boolean ended;
  private boolean broken; // where the next frame begins is unknown
  // of the message that has begun
  private boolean begun;
  private Utf8Validator text; // null: of bytes
  private byte[] bytes = NOTHING;
  private int size;

  WebSocketReader(ClientInput in, WebSocketOptions options, FrameResponder answers) {
    super(in, options.message);
    this.maxFrame = options.frame;
    this.responder = answers;
  }

  @Override
  WebSocketMessage read() throws IOException {
    try {
      while (!ended) {
        var message = readFrame();
        if (message != null && !responder.isClosing()) return message;
      }
      return null;
    } catch (ProtocolException refused) {
      throw refused;
    } catch (IOException gone) {
      boolean expected = gone instanceof EOFException && responder.isClosing(); // if only by our two seconds
      ended = true;
      responder.closed(new WebSocketClose(WebSocketClose.GONE));
      if (expected) return null;
      throw in.socket.asClientError(gone);
    }
  }

  @Override
  Object describe(WebSocketMessage message) {
    return message;
  }

  private int next() throws IOException {
    int one = in.read();
    if (one < 0) throw new EOFException(in.socket + " ended its stream without a close");
    return one;
  }

  /** A message, or null: more belongs to it. */
  private WebSocketMessage readFrame() throws IOException {
    int first = next();
    if (!heard) heard = true;
    int opcode = first & 0xf;
    if ((first & 0x70) != 0) throw protocolError("reserved bits of an extension that was not agreed on");
    if (opcode > WebSocketFrame.BINARY && opcode < WebSocketFrame.CLOSE || opcode > WebSocketFrame.PONG)
      throw protocolError("a frame of an unknown kind");
    boolean last = (first & WebSocketFrame.LAST) != 0;
    if (opcode >= WebSocketFrame.CLOSE) {
      if (!last) throw protocolError("a control frame in fragments");
      readControl(opcode);
      return null;
    }
    if (begun != (opcode == WebSocketFrame.CONTINUATION))
      throw protocolError(begun ? "a message within another" : "the rest of no message");
    if (!begun) begin(opcode);
    readData(last && opcode != WebSocketFrame.CONTINUATION);
    return last ? taken() : null;
  }

  private int shortLength() throws IOException {
    int second = next();
    if ((second & WebSocketFrame.MASKED) == 0) throw protocolError("a frame without a mask");
    return second & ~WebSocketFrame.MASKED;
  }

  private long length() throws IOException {
    int length = shortLength();
    return switch (length) {
      case WebSocketFrame.SHORT_LENGTH -> length(2, WebSocketFrame.SHORT_LENGTH);
      case WebSocketFrame.LONG_LENGTH -> length(8, 0x1_0000);
      default -> length;
    };
  }

  private long length(int count, int least) throws IOException {
    long length = next();
    if (count == 8 && length >= 0x80) throw protocolError("a length with the highest bit set");
    for (int i = 1; i < count; i++) length = length << 8 | next();
    if (length < least) throw protocolError("a length in more bytes than it needs");
    return length;
  }

  private int mask() throws IOException {
    return next() << 24 | next() << 16 | next() << 8 | next();
  }

  // ---- messages

  private void begin(int opcode) {
    begun = true;
    text = opcode == WebSocketFrame.TEXT ? new Utf8Validator() : null;
  }

  /** Reads a frame of a message, which is the whole message if {@code whole} is true. */
  private void readData(boolean whole) throws IOException {
    long length = length();
    if (length > maxFrame && maxFrame < maxLength) throw tooLong("frame", maxFrame, "withMaxFrame");
    if (length > maxLength - size) throw tooLong("message", maxLength, "withMaxMessage");
    int mask = mask();
    for (int done = 0; done < length;) {
      int left = (int) length - done;
      if (size == bytes.length) grow(left, whole);
      int some = in.read(bytes, size, Math.min(left, bytes.length - size));
      if (some < 0) next(); // throws
      WebSocketFrame.unmask(bytes, size, some, mask, done);
      if (text != null && !text.accepts(bytes, size, some)) throw notUtf8();
      size += some;
      done += some;
    }
  }

  /** At most twice what has come, and doubled each time: fragments may be of one byte. */
  private void grow(int left, boolean whole) {
    long known = (long) size + left;
    long more = whole ? Math.min(known, Math.max(2L * size, ClientInput.LARGE))
        : Math.min(maxLength, Math.max(2L * size, Math.min(known, ClientInput.LARGE)));
    bytes = Arrays.copyOf(bytes, (int) more);
  }

  private WebSocketMessage taken() throws IOException {
    if (text != null && !text.isComplete()) throw notUtf8();
    var message = text != null ? new WebSocketMessage.Text(new String(bytes, 0, size, StandardCharsets.UTF_8))
        : new WebSocketMessage.Binary(size == bytes.length ? bytes : Arrays.copyOf(bytes, size));
    begun = false;
    bytes = NOTHING;
    size = 0;
    return message;
  }

  // ---- control frames

  private void readControl(int opcode) throws IOException {
    int length = shortLength();
    if (length > WebSocketFrame.LONGEST_CONTROL)
      throw protocolError("a control frame longer than " + WebSocketFrame.LONGEST_CONTROL + " bytes");
    int mask = mask();
    var data = new byte[length];
    for (int i = 0; i < length; i++) data[i] = (byte) next();
    WebSocketFrame.unmask(data, 0, length, mask, 0);
    if (opcode == WebSocketFrame.PING) responder.pong(data);
    else if (opcode == WebSocketFrame.CLOSE) close(data);
  }

  private void close(byte[] data) throws IOException {
    if (data.length == 1) throw protocolError("half a close code");
    int code = data.length == 0 ? WebSocketClose.NONE : (data[0] & 0xff) << 8 | data[1] & 0xff;
    if (data.length > 0 && !WebSocketClose.isCode(code)) throw protocolError("the close code " + code);
    int from = Math.min(2, data.length);
    var check = new Utf8Validator();
    if (!check.accepts(data, from, data.length - from) || !check.isComplete()) throw notUtf8();
    ended = true;
    responder.closed(new WebSocketClose(code, new String(data, from, data.length - from, StandardCharsets.UTF_8)));
  }

  // ---- what the client must not send

  private IOException tooLong(String what, int limit, String option) {
    return broken(refusal(WebSocketClose.TOO_BIG, "a " + what + " longer than " + limit + " bytes",
        "; " + option + " allows more"));
  }

  private IOException protocolError(String what) {
    return broken(refusal(WebSocketClose.PROTOCOL_ERROR, what));
  }

  private IOException notUtf8() {
    return broken(refusal(WebSocketClose.INVALID, "a text that is not UTF-8"));
  }

  private IOException broken(IOException refusal) {
    ended = broken = true;
    return refusal;
  }

  /** Refuses a well-formed message. */
  IOException refusal(int code, String what) {
    return refusal(code, what, "");
  }

  /** {@code advice}: for the server's side only. */
  private IOException refusal(int code, String what, String advice) {
    responder.close(new WebSocketClose(code, what));
    return in.socket.asClientError(
        new ProtocolException(in.socket + " sent " + what + ", and the connection was closed with " + code + advice));
  }

  // ---- the end

  /** Reads until the client has closed, too: a close before would destroy what it has not read. */
  void awaitClose() throws IOException {
    if (broken) {
      in.socket.endOutput();
      var ignored = new byte[ClientInput.LARGE];
      while (in.read(ignored, 0, ignored.length) >= 0) {
      }
    }
    while (read() != null) {
    }
  }
}
