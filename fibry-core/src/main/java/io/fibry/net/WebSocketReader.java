package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the messages of a client from its frames. Input that RFC 6455 does not allow is refused at
 * the first invalid byte. An announced length alone takes no memory.
 */
final class WebSocketReader extends ClientReader<WebSocketMessage> {

  /** Responds to the frames of the client. */
  interface FrameResponder {
    void pong(byte[] data) throws IOException;

    /** Called when the client has closed, or has disconnected without a close. */
    void closed(WebSocketClose close);

    /** Closes the connection, because of a message that the client has sent. */
    void close(WebSocketClose close);

    /** Returns whether the connection closes, so that further messages are dropped. */
    boolean isClosing();
  }

  private static final byte[] NOTHING = {};

  private final FrameResponder responder;
  private final int maxFrame;
  // whether a frame has come since the last ping; set by the thread that reads, cleared by the
  // thread that sends pings. A lost write costs or saves a ping
  volatile boolean heardSincePing;
  private boolean hasEnded;
  private boolean broken; // the beginning of the next frame is unknown
  // the next four are about the message that is read
  private boolean hasBegun;
  private Utf8Validator textValidator; // null: the message is binary
  private byte[] bytes = NOTHING;
  private int size; // bytes that were read of the message

  WebSocketReader(ClientInput in, WebSocketOptions options, FrameResponder responder) {
    super(in, options.maxMessage);
    this.maxFrame = options.maxFrame;
    this.responder = responder;
  }

  @Override
  WebSocketMessage read() throws IOException {
    try {
      while (!hasEnded) {
        var message = readFrame();
        if (message != null && !responder.isClosing()) return message;
      }
      return null;
    } catch (ProtocolException refused) {
      throw refused;
    } catch (IOException disconnected) {
      // the end may come from this side, because the client did not close in time
      boolean isExpected = disconnected instanceof EOFException && responder.isClosing();
      hasEnded = true;
      responder.closed(new WebSocketClose(WebSocketClose.GONE));
      if (isExpected) return null;
      throw in.socket.asClientError(disconnected);
    }
  }

  @Override
  Object describe(WebSocketMessage message) {
    return message;
  }

  private int next() throws IOException {
    int b = in.read();
    if (b < 0) throw new EOFException(in.socket + " ended its stream without a close");
    return b;
  }

  /** Reads a frame. Returns the message that it completes, or null if it completes none. */
  private WebSocketMessage readFrame() throws IOException {
    int firstByte = next();
    if (!heardSincePing) heardSincePing = true;
    int opcode = firstByte & 0xf;
    if ((firstByte & 0x70) != 0) throw protocolError("reserved bits of an extension that was not agreed on");
    if (opcode > WebSocketFrame.BINARY && opcode < WebSocketFrame.CLOSE || opcode > WebSocketFrame.PONG)
      throw protocolError("a frame of an unknown kind");
    boolean isLast = (firstByte & WebSocketFrame.LAST_FRAGMENT) != 0;
    if (opcode >= WebSocketFrame.CLOSE) {
      if (!isLast) throw protocolError("a control frame in fragments");
      readControl(opcode);
      return null;
    }
    if (hasBegun != (opcode == WebSocketFrame.CONTINUATION))
      throw protocolError(hasBegun ? "a message within another" : "the rest of no message");
    if (!hasBegun) begin(opcode);
    readData(isLast && opcode != WebSocketFrame.CONTINUATION);
    return isLast ? takeMessage() : null;
  }

  private int shortLength() throws IOException {
    int secondByte = next();
    if ((secondByte & WebSocketFrame.MASKED) == 0) throw protocolError("a frame without a mask");
    return secondByte & ~WebSocketFrame.MASKED;
  }

  private long length() throws IOException {
    int length = shortLength();
    return switch (length) {
      case WebSocketFrame.SHORT_LENGTH -> length(2, WebSocketFrame.SHORT_LENGTH);
      case WebSocketFrame.LONG_LENGTH -> length(8, 0x1_0000);
      default -> length;
    };
  }

  private long length(int count, int minLength) throws IOException {
    long length = next();
    if (count == 8 && length >= 0x80) throw protocolError("a length with the highest bit set");
    for (int i = 1; i < count; i++) length = length << 8 | next();
    if (length < minLength) throw protocolError("a length in more bytes than it needs");
    return length;
  }

  private int mask() throws IOException {
    return next() << 24 | next() << 16 | next() << 8 | next();
  }

  // ---- messages

  private void begin(int opcode) {
    hasBegun = true;
    textValidator = opcode == WebSocketFrame.TEXT ? new Utf8Validator() : null;
  }

  /**
   * Reads the data of a frame.
   *
   * @param isWhole whether the frame is the whole message
   */
  private void readData(boolean isWhole) throws IOException {
    long length = length();
    if (length > maxFrame && maxFrame < maxLength) throw tooLong("frame", maxFrame, "withMaxFrame");
    if (length > maxLength - size) throw tooLong("message", maxLength, "withMaxMessage");
    int mask = mask();
    for (int offset = 0; offset < length;) {
      int remaining = (int) length - offset;
      if (size == bytes.length) grow(remaining, isWhole);
      int count = in.read(bytes, size, Math.min(remaining, bytes.length - size));
      if (count < 0) next(); // throws
      WebSocketFrame.unmask(bytes, size, count, mask, offset);
      if (textValidator != null && !textValidator.accepts(bytes, size, count)) throw notUtf8();
      size += count;
      offset += count;
    }
  }

  /**
   * Enlarges the array, but above 8 kB at most to twice the received bytes. It is doubled each
   * time, because fragments may have a single byte.
   */
  private void grow(int remaining, boolean isWhole) {
    long knownSize = (long) size + remaining;
    long newSize = isWhole ? Math.min(knownSize, Math.max(2L * size, ClientInput.LARGE))
        : Math.min(maxLength, Math.max(2L * size, Math.min(knownSize, ClientInput.LARGE)));
    bytes = Arrays.copyOf(bytes, (int) newSize);
  }

  private WebSocketMessage takeMessage() throws IOException {
    if (textValidator != null && !textValidator.isComplete()) throw notUtf8();
    var message = textValidator != null ? new WebSocketMessage.Text(new String(bytes, 0, size, StandardCharsets.UTF_8))
        : new WebSocketMessage.Binary(size == bytes.length ? bytes : Arrays.copyOf(bytes, size));
    hasBegun = false;
    bytes = NOTHING;
    size = 0;
    return message;
  }

  // ---- control frames

  private void readControl(int opcode) throws IOException {
    int length = shortLength();
    if (length > WebSocketFrame.MAX_CONTROL)
      throw protocolError("a control frame longer than " + WebSocketFrame.MAX_CONTROL + " bytes");
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
    hasEnded = true;
    responder.closed(new WebSocketClose(code, new String(data, from, data.length - from, StandardCharsets.UTF_8)));
  }

  // ---- violations of the protocol

  private IOException tooLong(String item, int limit, String option) {
    return markBroken(refusal(WebSocketClose.TOO_BIG, "a " + item + " longer than " + limit + " bytes",
        "; " + option + " allows more"));
  }

  private IOException protocolError(String defect) {
    return markBroken(refusal(WebSocketClose.PROTOCOL_ERROR, defect));
  }

  private IOException notUtf8() {
    return markBroken(refusal(WebSocketClose.INVALID, "a text that is not UTF-8"));
  }

  private IOException markBroken(IOException refusal) {
    hasEnded = broken = true;
    return refusal;
  }

  /** Closes the connection because of a well-formed message. Returns the exception to throw. */
  IOException refusal(int code, String defect) {
    return refusal(code, defect, "");
  }

  /**
   * Closes the connection, and returns the exception to throw.
   *
   * @param advice for the server's side only
   */
  private IOException refusal(int code, String defect, String advice) {
    responder.close(new WebSocketClose(code, defect));
    return in.socket.asClientError(
        new ProtocolException(in.socket + " sent " + defect + ", and the connection was closed with " + code + advice));
  }

  // ---- the end

  /**
   * Reads until the client has closed, too. A close before would destroy bytes that the client has
   * not read.
   */
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
