package io.fibry.net.websocket;

import io.fibry.net.WebSocketClose;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientReader;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the messages of a client from its frames. Input that RFC 6455 does not allow is refused at
 * the first invalid byte, or at the end of a control frame. A frame that only announces a great
 * length makes the reader allocate at most 8 KiB; the reader allocates more as bytes arrive.
 */
final class WebSocketReader extends ClientReader<WebSocketMessage> {

  /** Responds to the frames of the client. */
  interface FrameResponder {
    void pong(byte[] data) throws IOException;

    /** Called when the client has closed, or has disconnected without a close. */
    void closed(WebSocketClose close);

    /** Closes the connection, because of a message that the client has sent. */
    void close(WebSocketClose close);

    /** Returns whether the connection is closing; further messages are then dropped. */
    boolean isClosing();

    /** Returns why the client was cut off because it reads too slowly; null if it was not. */
    String slowReason();
  }

  private static final byte[] NOTHING = {};

  private final FrameResponder responder;
  private final int maxFrame;
  // whether a frame has come since the last ping; set by the thread that reads, cleared by the
  // thread that sends pings. If both write at the same time, one ping may be missing or needless
  volatile boolean hasFrameSincePing;
  private boolean hasEnded;
  private boolean isBroken; // whether the start of the next frame is unknown, because a frame was refused
  // the next four fields describe the message that is being read
  private boolean isInMessage; // whether a message has begun and is not complete
  private Utf8Validator textValidator; // null if the message is binary
  private byte[] bytes = NOTHING;
  private int size; // bytes of the message that were read so far

  WebSocketReader(ClientInput in, WebSocketSettings settings, FrameResponder responder) {
    super(in, settings.maxMessage());
    this.maxFrame = settings.maxFrame();
    this.responder = responder;
  }

  /**
   * Reads a message. If the client was cut off because it reads too slowly, the exception has this
   * reason, even if the client has closed or disconnected since.
   */
  @Override
  protected WebSocketMessage read() throws IOException {
    try {
      var message = responder.slowReason() == null ? readMessage() : null;
      if (message != null || responder.slowReason() == null) return message;
    } catch (IOException failure) {
      if (responder.slowReason() == null) throw failure;
    }
    throw in.socket.asClientError(new SocketTimeoutException(responder.slowReason()));
  }

  private WebSocketMessage readMessage() throws IOException {
    try {
      while (!hasEnded) {
        var message = readFrame();
        if (message != null && !responder.isClosing()) return message;
      }
      return null;
    } catch (ProtocolException refused) {
      throw refused;
    } catch (IOException disconnected) {
      // if the client does not close in time, the server itself ends the input
      boolean isExpected = disconnected instanceof EOFException && responder.isClosing();
      hasEnded = true;
      responder.closed(CloseFrame.closeWith(CloseFrame.DISCONNECTED));
      if (isExpected) return null;
      throw in.socket.asClientError(disconnected);
    }
  }

  @Override
  protected Object describe(WebSocketMessage message) {
    return message;
  }

  private int nextByte() throws IOException {
    int b = in.read();
    if (b < 0) throw new EOFException(in.socket + " ended its stream without a close");
    return b;
  }

  /** Reads a frame. Returns the message that it completes, or null if it completes none. */
  private WebSocketMessage readFrame() throws IOException {
    int firstByte = nextByte();
    if (!hasFrameSincePing) hasFrameSincePing = true;
    int opcode = firstByte & 0xf;
    if ((firstByte & 0x70) != 0) throw refuseViolation("reserved bits of an extension that was not agreed on");
    if (opcode > WebSocketFrames.BINARY && opcode < WebSocketFrames.CLOSE || opcode > WebSocketFrames.PONG)
      throw refuseViolation("a frame of an unknown kind");
    boolean isLast = (firstByte & WebSocketFrames.LAST_FRAGMENT) != 0;
    if (opcode >= WebSocketFrames.CLOSE) {
      if (!isLast) throw refuseViolation("a control frame in fragments");
      readControl(opcode);
      return null;
    }
    if (isInMessage != (opcode == WebSocketFrames.CONTINUATION))
      throw refuseViolation(isInMessage ? "a message within another" : "a continuation of no message");
    if (!isInMessage) beginMessage(opcode);
    readData(isLast && opcode != WebSocketFrames.CONTINUATION);
    return isLast ? takeMessage() : null;
  }

  private int shortLength() throws IOException {
    int secondByte = nextByte();
    if ((secondByte & WebSocketFrames.MASKED) == 0) throw refuseViolation("a frame without a mask");
    return secondByte & ~WebSocketFrames.MASKED;
  }

  private long length() throws IOException {
    int length = shortLength();
    return switch (length) {
      case WebSocketFrames.SHORT_LENGTH -> length(2, WebSocketFrames.SHORT_LENGTH);
      case WebSocketFrames.LONG_LENGTH -> length(8, 0x1_0000);
      default -> length;
    };
  }

  private long length(int byteCount, int minLength) throws IOException {
    long length = nextByte();
    if (byteCount == 8 && length >= 0x80) throw refuseViolation("a length with the highest bit set");
    for (int i = 1; i < byteCount; i++) length = length << 8 | nextByte();
    if (length < minLength) throw refuseViolation("a length in more bytes than it needs");
    return length;
  }

  private int mask() throws IOException {
    return nextByte() << 24 | nextByte() << 16 | nextByte() << 8 | nextByte();
  }

  // ---- messages

  private void beginMessage(int opcode) {
    isInMessage = true;
    textValidator = opcode == WebSocketFrames.TEXT ? new Utf8Validator() : null;
  }

  /**
   * Reads the data of a frame.
   *
   * @param isWhole whether the frame is the whole message
   */
  private void readData(boolean isWhole) throws IOException {
    long length = length();
    if (length > maxFrame && maxFrame < maxLength) throw refuseTooLong("frame", maxFrame, "withMaxFrame");
    if (length > maxLength - size) throw refuseTooLong("message", maxLength, "withMaxMessage");
    int mask = mask();
    for (int offset = 0; offset < length;) {
      int remaining = (int) length - offset;
      if (size == bytes.length) grow(remaining, isWhole);
      int count = in.read(bytes, size, Math.min(remaining, bytes.length - size));
      if (count < 0) nextByte(); // the input has ended, so this throws an EOFException
      WebSocketFrames.unmask(bytes, size, count, mask, offset);
      if (textValidator != null && !textValidator.accepts(bytes, size, count)) throw refuseInvalidText();
      size += count;
      offset += count;
    }
  }

  /**
   * Enlarges the array to the known size of the message, but at most to 8 KiB, or to twice the
   * received bytes if that is more. For a message in fragments the array grows at least to twice
   * its size, because a fragment may have a single byte.
   */
  private void grow(int remaining, boolean isWhole) {
    long knownSize = (long) size + remaining;
    long newSize = isWhole ? Math.min(knownSize, Math.max(2L * size, ClientInput.LARGE_BUFFER))
        : Math.min(maxLength, Math.max(2L * size, Math.min(knownSize, ClientInput.LARGE_BUFFER)));
    bytes = Arrays.copyOf(bytes, (int) newSize);
  }

  private WebSocketMessage takeMessage() throws IOException {
    if (textValidator != null && !textValidator.isComplete()) throw refuseInvalidText();
    var message = textValidator != null ? new WebSocketMessage.Text(new String(bytes, 0, size, StandardCharsets.UTF_8))
        : new WebSocketMessage.Binary(size == bytes.length ? bytes : Arrays.copyOf(bytes, size));
    isInMessage = false;
    bytes = NOTHING;
    size = 0;
    return message;
  }

  // ---- control frames

  private void readControl(int opcode) throws IOException {
    int length = shortLength();
    if (length > WebSocketFrames.MAX_CONTROL)
      throw refuseViolation("a control frame longer than " + WebSocketFrames.MAX_CONTROL + " bytes");
    int mask = mask();
    var data = new byte[length];
    for (int i = 0; i < length; i++) data[i] = (byte) nextByte();
    WebSocketFrames.unmask(data, 0, length, mask, 0);
    if (opcode == WebSocketFrames.PING) responder.pong(data);
    else if (opcode == WebSocketFrames.CLOSE) handleClose(data);
  }

  private void handleClose(byte[] data) throws IOException {
    if (data.length == 1) throw refuseViolation("half a close code");
    int code = data.length == 0 ? CloseFrame.NO_CODE : (data[0] & 0xff) << 8 | data[1] & 0xff;
    if (data.length > 0 && !CloseFrame.isCode(code)) throw refuseViolation("the close code " + code);
    int textStart = Math.min(2, data.length);
    var validator = new Utf8Validator();
    if (!validator.accepts(data, textStart, data.length - textStart) || !validator.isComplete())
      throw refuseInvalidText();
    hasEnded = true;
    responder
        .closed(new WebSocketClose(code, new String(data, textStart, data.length - textStart, StandardCharsets.UTF_8)));
  }

  // ---- violations of the protocol

  private IOException refuseTooLong(String item, int limit, String option) {
    return markBroken(refuse(CloseFrame.TOO_BIG, "a " + item + " longer than " + limit + " bytes",
        "; " + option + " allows more"));
  }

  private IOException refuseViolation(String defect) {
    return markBroken(refuse(CloseFrame.PROTOCOL_ERROR, defect));
  }

  private IOException refuseInvalidText() {
    return markBroken(refuse(CloseFrame.INVALID, "a text that is not UTF-8"));
  }

  private IOException markBroken(IOException refusal) {
    hasEnded = isBroken = true;
    return refusal;
  }

  /**
   * Closes the connection because the handler cannot use a well-formed message. Returns the
   * exception to throw.
   */
  IOException refuse(int code, String defect) {
    return refuse(code, defect, "");
  }

  /**
   * Closes the connection, and returns the exception to throw.
   *
   * @param advice is added to the exception, but not sent to the client
   */
  private IOException refuse(int code, String defect, String advice) {
    responder.close(new WebSocketClose(code, defect));
    return in.socket.asClientError(
        new ProtocolException(in.socket + " sent " + defect + ", and the connection was closed with " + code + advice));
  }

  // ---- the end

  /**
   * Reads until the client has closed, too. An earlier close of the socket could destroy bytes that
   * the client has not read.
   */
  void awaitClose() throws IOException {
    if (isBroken) {
      in.socket.endOutput();
      var ignored = new byte[ClientInput.LARGE_BUFFER];
      while (in.read(ignored, 0, ignored.length) >= 0) {
      }
    }
    while (readMessage() != null) {
    }
  }
}
