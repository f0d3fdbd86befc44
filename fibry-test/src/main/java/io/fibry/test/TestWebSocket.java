package io.fibry.test;

import io.fibry.net.WebSocketClose;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.WebSocketMessage.Binary;
import io.fibry.net.WebSocketMessage.Text;
import io.fibry.test.MemorySockets.MemoryConnection;
import io.fibry.test.TestServer.TestRequest;
import io.fibry.test.TestServer.TestResponse;
import io.fibry.text.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The client's side of a WebSocket of a {@link TestServer}. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="websocket"}
 *
 * <p>A message is received when the server has written it, on the server's thread. So when the
 * scope is quiet, the client has all messages that were sent, and the server has all messages of
 * the client. The client replies to pings and to a close like a browser. All waits last at most 5 s
 * of real time by default, or {@code -Dfibry.test.limit} seconds.
 */
public final class TestWebSocket implements AutoCloseable {
  static final int ACCEPTED = 101;
  static final String[] UPGRADE = {"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="};

  private static final int TEXT = 0x81; // the first bytes of frames, which are whole messages
  private static final int BINARY = 0x82;
  private static final int CLOSE = 0x88;
  private static final int PING = 0x89;
  private static final int PONG = 0x8a;
  private static final int MASKED = 0x80; // flag in the second byte
  private static final byte[] MASK = {0x5a, 0x3c, 0x69, 0x0f}; // any bytes but zeros
  private static final int SHORT_LENGTH = 126; // two bytes with the length follow
  private static final int LONG_LENGTH = 127; // eight bytes with the length follow
  private static final int MAX_REASON = 123; // bytes
  private static final WebSocketClose NO_CODE = new WebSocketClose(1005, "");
  private static final WebSocketClose DISCONNECTED = new WebSocketClose(1006, "");

  private final TestScope scope;
  private final TestRequest request;
  private final MemoryConnection connection;
  private final Set<TestWebSocket> pausedSockets; // shared by all WebSockets of the server
  private final Supplier<String> unreadText; // registered while the client is paused
  // completed when the server has accepted the WebSocket, or has ended the connection
  final CompletableFuture<TestResponse> response = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock(); // guards all fields below
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<WebSocketMessage> untakenMessages = new ArrayDeque<>();
  private ByteBuffer received = ByteBuffer.allocate(0); // the bytes of an incomplete response or frame
  private boolean isPaused;
  private boolean isCloseSent; // no frame may follow the client's close
  private boolean isEnded; // whether the end of the connection was read
  private WebSocketClose serverClose; // null until the server has closed, or a side has disconnected

  TestWebSocket(TestScope scope, TestRequest request, MemoryConnection connection, Set<TestWebSocket> pausedSockets) {
    this.pausedSockets = pausedSockets;
    this.scope = scope;
    this.request = request;
    this.connection = connection;
    this.unreadText = () -> connection.toClient().unreadText(toString());
    connection.toClient().onChange(this::readAll);
  }

  /**
   * Returns the response to the handshake. A subprotocol that was agreed on is in its header
   * {@code Sec-WebSocket-Protocol}.
   *
   * @return the response with the status 101, and with the headers that code around the route set
   */
  public TestResponse response() {
    return response.join();
  }

  // ---- sending

  /**
   * Sends a text. The server then handles it; {@link TestScope#assertQuiet} waits for that.
   *
   * @param text the message
   * @throws IllegalStateException if a side has closed or disconnected
   */
  public void send(String text) {
    sendMessage(TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Sends bytes.
   *
   * @param data the message
   * @throws IllegalStateException if a side has closed or disconnected
   */
  public void send(byte[] data) {
    sendMessage(BINARY, data);
  }

  private void sendMessage(int firstByte, byte[] data) {
    lock.lock();
    try {
      if (isCloseSent || serverClose != null)
        throw new IllegalStateException(this + " is closed, so it can send no message");
      sendFrame(firstByte, data);
    } finally {
      lock.unlock();
    }
  }

  /** Sends a masked frame. A server that has disconnected gets nothing, as over a network. */
  private void sendFrame(int firstByte, byte[] data) {
    int length = data.length;
    var frame = ByteBuffer.allocate(14 + length).put((byte) firstByte);
    if (length < SHORT_LENGTH) frame.put((byte) (MASKED | length));
    else if (length <= 0xffff) frame.put((byte) (MASKED | SHORT_LENGTH)).putShort((short) length);
    else frame.put((byte) (MASKED | LONG_LENGTH)).putLong(length);
    frame.put(MASK);
    for (int i = 0; i < length; i++) frame.put((byte) (data[i] ^ MASK[i % MASK.length]));
    try {
      connection.socket().getOutputStream().write(frame.array(), 0, frame.position());
    } catch (IOException disconnected) {}
  }

  // ---- receiving

  /** Runs on a thread of the server that has written or ended, or on a thread of the test. */
  private void readAll() {
    lock.lock();
    try {
      if (isPaused) return;
      boolean hasEnded = connection.toClient().hasEnded(); // before the bytes, because none follow the end
      var bytes = connection.toClient().takeAll();
      received = ByteBuffer.allocate(received.remaining() + bytes.length).put(received).put(bytes).flip();
      if (!response.isDone()) readResponse(hasEnded);
      if (isAccepted()) readFrames();
      if (hasEnded) endConnection();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Closes the connection too, because the server may wait for the end of the client's stream. */
  private void endConnection() {
    if (isEnded) return;
    isEnded = true;
    end(DISCONNECTED);
    closeSocket();
  }

  private boolean isAccepted() {
    return response.isDone() && !response.isCompletedExceptionally() && response.join().status() == ACCEPTED;
  }

  private void readResponse(boolean hasEnded) {
    try {
      int headLength = ResponseParser.headLength(received.array());
      boolean isAccepted = headLength >= 0
          && new String(received.array(), StandardCharsets.ISO_8859_1).startsWith("HTTP/1.1 " + ACCEPTED);
      if (isAccepted) {
        var head = new byte[headLength];
        received.get(head);
        response.complete(TestResponse.parse(request.method(), head));
      } else if (hasEnded) response.complete(TestResponse.parse(request.method(), received.array()));
      else if (headLength >= 0) connection.socket().shutdownOutput(); // so that the server ends the connection
    } catch (IOException failure) {
      response.completeExceptionally(failure);
    }
  }

  private void readFrames() {
    while (true) {
      received.mark();
      int firstByte = received.remaining() < 2 ? -1 : received.get() & 0xff;
      var data = firstByte < 0 ? null : readData();
      if (data == null) {
        received.reset();
        received = received.slice();
        return;
      }
      handleFrame(firstByte, data);
    }
  }

  /** Returns the data of a frame, or null if the frame is incomplete. */
  private byte[] readData() {
    long length = received.get(); // a server's frame has no mask
    int lengthBytes = length == SHORT_LENGTH ? 2 : length == LONG_LENGTH ? 8 : 0;
    if (received.remaining() < lengthBytes) return null;
    if (lengthBytes == 2) length = received.getShort() & 0xffff;
    else if (lengthBytes == 8) length = received.getLong();
    if (received.remaining() < length) return null;
    var data = new byte[(int) length];
    received.get(data);
    return data;
  }

  private void handleFrame(int firstByte, byte[] data) {
    switch (firstByte) {
      case TEXT -> untakenMessages.add(new Text(new String(data, StandardCharsets.UTF_8)));
      case BINARY -> untakenMessages.add(new Binary(data));
      case PING -> {
        if (!isCloseSent) sendFrame(PONG, data);
      }
      case CLOSE -> {
        sendClose(Arrays.copyOf(data, Math.min(2, data.length))); // the reply has only the code
        end(data.length < 2 ? NO_CODE : new WebSocketClose(ByteBuffer.wrap(data).getShort() & 0xffff,
            new String(data, 2, data.length - 2, StandardCharsets.UTF_8)));
      }
      default -> throw new IllegalStateException("the server sent a frame with the first byte " + firstByte);
    }
  }

  private void end(WebSocketClose close) {
    if (serverClose == null) serverClose = close;
    changed.signalAll();
  }

  /**
   * Waits for the next message, and returns it.
   *
   * @return the oldest message that the test has not taken yet
   * @throws AssertionError if no message comes in time, or the WebSocket ends before
   */
  public WebSocketMessage receive() {
    return receive("a message");
  }

  /**
   * Waits for the next message, which must be a text.
   *
   * @return the text
   * @throws AssertionError if bytes come, if no message comes in time, or the WebSocket ends before
   */
  public String receiveText() {
    var message = receive("a text");
    if (message instanceof Text text) return text.text();
    throw failure("wanted a text and got " + message);
  }

  /**
   * Waits for the next message, which must be bytes.
   *
   * @return the bytes
   * @throws AssertionError if a text comes, if no message comes in time, or the WebSocket ends
   * before
   */
  public byte[] receiveBytes() {
    var message = receive("bytes");
    if (message instanceof Binary binary) return binary.data();
    throw failure("wanted bytes and got " + message);
  }

  private WebSocketMessage receive(String wanted) {
    var taken = new WebSocketMessage[1]; // the condition takes it, under the lock
    await(wanted, () -> {
      if (taken[0] == null) taken[0] = untakenMessages.poll();
      return taken[0] != null || serverClose != null;
    });
    if (taken[0] != null) return taken[0];
    throw failure("wanted " + wanted + ", but it was closed with " + closeText());
  }

  /**
   * Waits until the scope is quiet, and checks that the test has taken all messages.
   *
   * @throws AssertionError if a message was not taken, or the scope does not become quiet
   */
  public void expectNothing() {
    scope.assertQuiet();
    List<WebSocketMessage> messages;
    lock.lock();
    try {
      messages = List.copyOf(untakenMessages);
    } finally {
      lock.unlock();
    }
    if (!messages.isEmpty()) throw failure("wanted nothing and got " + messages);
  }

  /**
   * Waits until the server has closed the WebSocket. Messages that came before can still be
   * received.
   *
   * @return the code and the reason of the server; 1005 if it gave no code, 1006 if the connection
   * ended without a close
   * @throws AssertionError if the server does not close in time
   */
  public WebSocketClose awaitClose() {
    await("a close", () -> serverClose != null);
    lock.lock();
    try {
      return serverClose;
    } finally {
      lock.unlock();
    }
  }

  private void await(String wanted, BooleanSupplier condition) {
    lock.lock();
    try {
      long nanos = scope.limit.toNanos();
      while (!condition.getAsBoolean() && nanos > 0) nanos = changed.awaitNanos(nanos);
      if (condition.getAsBoolean()) return;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while " + this + " waited for " + wanted);
    } finally {
      lock.unlock();
    }
    throw failure("wanted " + wanted + " and got nothing within " + TestScope.format(scope.limit));
  }

  private String closeText() {
    var close = awaitClose();
    return close.code() + (close.reason().isEmpty() ? "" : " '" + Lines.line(close.reason()) + "'");
  }

  private AssertionError failure(String problem) {
    return new AssertionError(this + " " + problem + "; the scope:\n" + scope.dump());
  }

  // ---- slow clients

  /**
   * Stops reading, like a client that hangs: pings get no reply, and after 64 KiB the server's
   * writes wait. While a write waits, the scope is not quiet, and {@link TestScope#advance} fails;
   * move {@link TestScope#clock} directly.
   */
  public void pauseReading() {
    pausedSockets.add(this);
    scope.pausedClients.add(unreadText);
    setPaused(true);
  }

  /** Reads again, and receives all messages that the server has written meanwhile. */
  public void resumeReading() {
    pausedSockets.remove(this);
    scope.pausedClients.remove(unreadText);
    setPaused(false);
  }

  private void setPaused(boolean isPaused) {
    lock.lock();
    try {
      this.isPaused = isPaused;
    } finally {
      lock.unlock();
    }
    connection.toClient().setPaused(isPaused); // runs `readAll`
  }

  // ---- the end

  /** Closes with 1000 and no reason, if no side has closed. Does not wait for the server. */
  @Override
  public void close() {
    close(1000, "");
  }

  /**
   * Closes, if no side has closed. Does not wait for the server; {@link #awaitClose} does.
   *
   * @param code is sent as it is, whether a client may send it or not
   * @param reason at most 123 bytes of UTF-8
   */
  public void close(int code, String reason) {
    var reasonBytes = reason.getBytes(StandardCharsets.UTF_8);
    if (reasonBytes.length > MAX_REASON) throw new IllegalArgumentException(
        "a close cannot have a reason of " + reasonBytes.length + " bytes; give at most " + MAX_REASON);
    lock.lock();
    try {
      sendClose(ByteBuffer.allocate(2 + reasonBytes.length).putShort((short) code).put(reasonBytes).array());
    } finally {
      lock.unlock();
    }
  }

  private void sendClose(byte[] data) {
    if (!isCloseSent) sendFrame(CLOSE, data);
    isCloseSent = true;
  }

  /** Ends the connection without a close, as a client does that fails. */
  public void disconnect() {
    lock.lock();
    try {
      isCloseSent = true;
      end(DISCONNECTED);
    } finally {
      lock.unlock();
    }
    closeSocket();
  }

  private void closeSocket() {
    try {
      connection.socket().close();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public String toString() {
    return "WebSocket " + Lines.line(request.path());
  }
}
