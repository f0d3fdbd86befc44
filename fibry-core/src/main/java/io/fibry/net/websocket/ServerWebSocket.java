package io.fibry.net.websocket;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Handler;
import io.fibry.block.StackSafeLock;
import io.fibry.net.HttpException;
import io.fibry.net.WebSocketClose;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.http.ServerExchange;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientOutbox.MessageFormat;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.CurrentStep.MessageObserver;
import io.fibry.net.socket.ListenerLimits;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import javax.net.ssl.SSLSession;

/**
 * A WebSocket that is open. The outbox writes each message as one frame. When the outbox ends, it
 * writes the close frame. The reading thread writes pongs, so if a client does not read its pongs,
 * the server stops reading the client's messages.
 *
 * <p>A client with too many unsent bytes is cut off by a close. Its outbox then drops all queued
 * messages, but completes the frame that it is writing, because no frame can follow half a frame.
 * If this frame and the close frame are not written within the write limit, the connection is
 * reset. The reset may come within a frame, so it sends no close frame.
 */
final class ServerWebSocket implements WebSocketConnection, WebSocketReader.FrameResponder {
  // max time until the client's close frame, after the server's close frame
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2);
  private static final int FIRST_ERROR = 500; // a status below it is an error of the client
  private static final byte[] PING_FRAME = WebSocketFrames.encode(WebSocketFrames.PING, new byte[0]);
  private static final byte[] NO_FRAME = {};
  static final Object PING = new Object(); // the message for which the outbox writes a ping

  private final ServerExchange exchange;
  private final ClientSocket socket;
  private final ActorScope scope;
  private final Scheduler clock;
  private final Optional<String> subprotocol;
  private final WebSocketReader messages;
  private final WebSocketValueReader<String> texts;
  private final ClientOutbox<Object> outbox; // its messages are String, byte[] and PING
  // held to write a pong or the close frame
  private final StackSafeLock controlLock = new StackSafeLock(false);
  private boolean isCloseSent; // guarded by `controlLock`; no pong may follow the close frame
  // null until a side closes; written by compare-and-set, so the first close counts; a cut-off
  // replaces it
  private final AtomicReference<WebSocketClose> firstClose = new AtomicReference<>();
  // null until the client closes; written by the reading thread
  private volatile WebSocketClose clientClose;
  // ends the input if the client does not close in time. Null until the close frame is sent, or if
  // the client has closed first. Written by the outbox
  private volatile Scheduler.Timer closeTimer;
  // The next two fields are null unless the client has too many unsent bytes. Written by a sender,
  // before the outbox ends; the reason is also read by the reading thread
  private volatile String slowReason;
  private volatile Scheduler.Timer cutOffTimer; // resets the connection if the close frame is not written in time

  ServerWebSocket(ServerExchange exchange, WebSocketSettings settings, Optional<String> subprotocol) {
    this.exchange = exchange;
    this.socket = exchange.socket;
    var builder = BlockBuilder.of(exchange.builder);
    this.scope = builder.scope();
    this.clock = builder.scheduler();
    this.subprotocol = subprotocol;
    if (builder.hasPropagators()) socket.step.observeMessages(new MessageObserver(builder, exchange.route(),
        Map.of("http.route", exchange.route(), "url.path", exchange.path(), "network.protocol.name", "websocket")));
    this.messages = new WebSocketReader(exchange.body.in, settings, this);
    this.texts = new WebSocketValueReader<>(messages, text -> text);
    this.outbox = new ClientOutbox<>(exchange.builder, "messages", socket, settings.maxUnsent(),
        new MessageFormat<>(ServerWebSocket::size, this::bytes, message -> message == PING), this::cutOff);
    outbox.runWhenWritten(this::sendClose);
    socket.limitEachRead(settings.idleLimit());
    if (settings.idleLimit() != ListenerLimits.NO_LIMIT) {
      // a ping is due twice in half the limit, because the first ping is skipped if the client has
      // just sent a frame
      long quarter = Math.max(1, Durations.nanos(settings.idleLimit()) / 4);
      outbox.actor.sendMessageEvery(PING, Duration.ofNanos(quarter));
    }
  }

  void converse(Handler<WebSocketConnection> handler) {
    socket.shutdown.endOnShutdown(outbox.actor);
    try {
      handler.handle(this);
    } catch (Throwable failure) {
      exchange.endHandling();
      if (!socket.isClientError(failure) && HttpException.statusOf(failure) >= FIRST_ERROR)
        socket.step.failMessage(failure);
      closeFor(failure);
    }
    exchange.endHandling();
    finish();
  }

  /** Closes the connection because the handler has failed. */
  private void closeFor(Throwable failure) {
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
    if (socket.isClientError(failure)) return;
    if (socket.isClosed() || isClosing()) {
      if (!(failure instanceof InterruptedException || failure instanceof CancellationException))
        exchange.failureLog.log(failure, exchange, "not at all, because the connection was closed");
    } else if (failure instanceof HttpException thrown) closeFor(thrown);
    else if (HttpException.statusOf(failure) == 503) close(CloseFrame.closeWith(CloseFrame.TRY_LATER));
    else {
      exchange.failureLog.log(failure, exchange, "" + CloseFrame.INTERNAL_ERROR);
      close(new WebSocketClose(CloseFrame.INTERNAL_ERROR, "Internal server error " + exchange.failureNumber()));
    }
  }

  /** Closes the connection with the text of the exception, which is for the client. */
  private void closeFor(HttpException thrown) {
    int code = thrown.status() < 500 ? CloseFrame.POLICY_VIOLATION
        : thrown.status() == 503 ? CloseFrame.TRY_LATER : CloseFrame.INTERNAL_ERROR;
    if (code == CloseFrame.INTERNAL_ERROR) exchange.failureLog.log(thrown, exchange, "" + code);
    close(new WebSocketClose(code, CloseFrame.fitReason(thrown.getMessage())));
  }

  private void finish() {
    socket.stopTracking();
    outbox.finish();
    var reason = slowReason != null ? slowReason : socket.exceededLimit();
    if (slowReason != null) socket.wasCutOff = true; // by a close frame, without a reset
    if (reason != null) exchange.failureLog.logCutOff(new SocketTimeoutException(reason));
    var timer = closeTimer;
    if (timer != null) socket.limitEachRead(ListenerLimits.NO_LIMIT); // the timer ends the reads
    else socket.limitAllReads(CLOSE_LIMIT); // the client has closed already, or no close frame could be sent
    try {
      messages.awaitClose();
    } catch (IOException disconnected) {}
    if (timer != null) timer.cancel();
    socket.close();
  }

  // ---- the request

  @Override
  public String path() {
    return exchange.path();
  }

  @Override
  public String path(String name) {
    return exchange.path(name);
  }

  @Override
  public Optional<String> queryParameter(String name) {
    return exchange.queryParameter(name);
  }

  @Override
  public Optional<String> header(String name) {
    return exchange.header(name);
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return exchange.remoteAddress();
  }

  @Override
  public <T> Optional<T> attribute(Class<T> type) {
    return exchange.attribute(type);
  }

  @Override
  public Optional<SSLSession> tls() {
    return socket.tls();
  }

  @Override
  public Optional<String> subprotocol() {
    return subprotocol;
  }

  // ---- messages

  @Override
  public Iterable<WebSocketMessage> messages() {
    return messages;
  }

  @Override
  public Iterable<String> texts() {
    return texts;
  }

  @Override
  public <T> Iterable<T> texts(Function<String, T> reader) {
    return new WebSocketValueReader<>(messages, reader);
  }

  @Override
  @SuppressWarnings("unchecked") // the outbox takes all types that size(..) and bytes(..) accept
  public Actor<String> textActor() {
    return (Actor<String>) (Actor<?>) outbox.actor;
  }

  @Override
  @SuppressWarnings("unchecked") // the outbox takes all types that size(..) and bytes(..) accept
  public Actor<byte[]> binaryActor() {
    return (Actor<byte[]>) (Actor<?>) outbox.actor;
  }

  @Override
  public long unsentBytes() {
    return outbox.unsentBytes();
  }

  /** Returns the bytes of a message, without the head of its frame. */
  private static int size(Object message) {
    return switch (message) {
      case String text -> WebSocketFrames.utf8Size(text);
      case byte[] data -> data.length;
      default -> 0;
    };
  }

  private byte[] bytes(Object message) {
    return switch (message) {
      case String text -> WebSocketFrames.encodeText(text);
      case byte[] data -> WebSocketFrames.encode(WebSocketFrames.BINARY, data);
      default -> ping();
    };
  }

  /** Returns a ping frame, or no bytes if the client has sent a frame since the last call. */
  private byte[] ping() {
    boolean isNeeded = !messages.hasFrameSincePing;
    messages.hasFrameSincePing = false;
    return isNeeded ? PING_FRAME : NO_FRAME;
  }

  @Override
  @SuppressWarnings("try") // the variable of the lock is not used
  public void pong(byte[] data) throws IOException {
    var frame = WebSocketFrames.encode(WebSocketFrames.PONG, data);
    try (var held = controlLock.acquire()) {
      if (!isCloseSent) socket.send(frame, 0, frame.length);
    }
  }

  // ---- the end

  @Override
  public void close(int code, String reason) {
    close(CloseFrame.checkedClose(code, reason));
  }

  @Override
  public void close() {
    close(normalClose());
  }

  /** Considers the scope, too, because a closing scope may end the outbox before the server. */
  private WebSocketClose normalClose() {
    boolean isServerEnding = socket.shutdown.hasBegun() || scope.isClosed();
    return CloseFrame.closeWith(isServerEnding ? CloseFrame.GOING_AWAY : CloseFrame.NORMAL);
  }

  @Override
  public void close(WebSocketClose close) {
    firstClose.compareAndSet(null, close);
    outbox.actor.sendPoisonPill();
  }

  @Override
  public void closed(WebSocketClose close) {
    clientClose = close;
    if (close.code() != CloseFrame.DISCONNECTED) close(CloseFrame.closeWith(close.code())); // the client's code
    else {
      firstClose.compareAndSet(null, close);
      outbox.actor.askExit(); // a pill would give another exit reason than a cut-off
    }
  }

  @Override
  public boolean isClosing() {
    return firstClose.get() != null;
  }

  /** Called by the sender whose message exceeds the limit of unsent bytes. The outbox then ends. */
  private void cutOff(String reason) {
    slowReason = reason;
    firstClose.set(new WebSocketClose(CloseFrame.POLICY_VIOLATION, CloseFrame.fitReason(reason)));
    cutOffTimer = clock.schedule(exchange.body.settings.limits().writeLimit(), () -> socket.reset(reason, true));
  }

  @Override
  public String slowReason() {
    return slowReason;
  }

  /**
   * Sends the close frame. Called at the end of the outbox, which a user may also end without a
   * call of close.
   */
  @SuppressWarnings("try") // the variable of the lock is not used
  private void sendClose() {
    firstClose.compareAndSet(null, normalClose());
    var close = firstClose.get();
    if (close.code() == CloseFrame.DISCONNECTED) return;
    try (var held = controlLock.acquire()) {
      isCloseSent = true;
      socket.sendFromOutbox(WebSocketFrames.encode(WebSocketFrames.CLOSE, CloseFrame.encode(close)));
      if (clientClose == null) closeTimer = clock.schedule(CLOSE_LIMIT, socket::endInput);
    } catch (IOException disconnected) {} finally {
      var timer = cutOffTimer;
      if (timer != null) timer.cancel();
    }
  }

  @Override
  public Optional<WebSocketClose> peerClose() {
    return Optional.ofNullable(clientClose);
  }

  @Override
  public String toString() {
    return "WebSocket " + Lines.line(exchange.path()) + " of " + socket;
  }
}
