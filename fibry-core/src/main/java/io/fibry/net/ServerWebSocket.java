package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.CircuitOpenException;
import io.fibry.Handler;
import io.fibry.MailboxFullException;
import io.fibry.block.StackSafeLock;
import io.fibry.block.Throwables;
import io.fibry.net.ClientOutbox.LineFormat;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import javax.net.ssl.SSLSession;

/**
 * A WebSocket that is open. Messages are written by the outbox, one frame each, and the close is
 * the outbox's last act. Pongs are written by the reading thread, so a client that does not take
 * its pongs slows down its own reads.
 */
final class ServerWebSocket implements WebSocketConnection, WebSocketReader.FrameResponder {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2); // for the client's
  private static final byte[] PING_FRAME = WebSocketFrame.of(WebSocketFrame.PING, new byte[0]);
  private static final byte[] NO_FRAME = {};
  static final Object PING = new Object();

  private final ServerExchange exchange;
  private final ClientSocket socket;
  private final Scheduler clock;
  private final Optional<String> subprotocol;
  private final WebSocketReader reader;
  private final WebSocketValueReader<String> texts;
  private final ClientOutbox<Object> outbox; // of String, byte[] and PING
  private final StackSafeLock controls = new StackSafeLock(false); // a pong or the close
  private boolean closeSent; // under `controls`; no pong follows the close
  // Changes from null to the way of the close, by compare-and-set: the first close counts
  private final AtomicReference<WebSocketClose> closing = new AtomicReference<>();
  private volatile WebSocketClose byClient; // null: none. Written by the thread that reads
  private volatile Scheduler.Timer closeLimit; // null: none. Written by the outbox's last act

  ServerWebSocket(ServerExchange exchange, WebSocketOptions options, Optional<String> subprotocol) {
    this.exchange = exchange;
    this.socket = exchange.socket;
    this.clock = BlockBuilder.of(exchange.builder).scheduler();
    this.subprotocol = subprotocol;
    this.reader = new WebSocketReader(exchange.body.in, options, this);
    this.texts = new WebSocketValueReader<>(reader, text -> text);
    this.outbox = new ClientOutbox<>(exchange.builder, "messages", socket, options.maxUnsent(),
        new LineFormat<>(ServerWebSocket::size, this::bytes, message -> message == PING));
    outbox.onWritten(this::sendClose);
    socket.limitEachRead(options.idle);
    if (options.idle != ListenerLimits.NONE) {
      // twice within half the limit: of a client that was just heard, the first finds nothing
      long quarter = Math.max(1, Durations.nanos(options.idle) / 4);
      outbox.actor.sendMessageEvery(PING, Duration.ofNanos(quarter));
    }
  }

  void converse(Handler<WebSocketConnection> handler) {
    socket.shutdown.addEndless(outbox.actor);
    try {
      handler.handle(this);
    } catch (Throwable failure) {
      exchange.endHandling();
      closeFor(failure);
    }
    exchange.endHandling();
    finish();
  }

  private void closeFor(Throwable failure) {
    if (failure instanceof VirtualMachineError error && !(failure instanceof StackOverflowError)) {
      socket.close();
      throw error;
    }
    if (socket.isClientError(failure)) return;
    if (socket.isClosed() || isClosing()) {
      if (!(failure instanceof InterruptedException || failure instanceof CancellationException))
        exchange.failures.log(failure, exchange, "nobody, for the connection was closed");
    } else switch (Throwables.requestExceptionIn(failure)) {
      case MailboxFullException full -> close(new WebSocketClose(WebSocketClose.TRY_LATER));
      case ActorStoppedException stopped -> close(new WebSocketClose(WebSocketClose.TRY_LATER));
      case CircuitOpenException open -> close(new WebSocketClose(WebSocketClose.TRY_LATER));
      default -> close(new WebSocketClose(WebSocketClose.FAILED,
          "Internal server error " + exchange.failures.log(failure, exchange, "" + WebSocketClose.FAILED)));
    }
  }

  private void finish() {
    socket.stopTracking();
    outbox.finish();
    var limit = closeLimit;
    if (limit != null) socket.limitEachRead(ListenerLimits.NONE);
    else socket.limitAllReads(CLOSE_LIMIT); // no close could be sent
    try {
      reader.awaitClose();
    } catch (IOException gone) {}
    if (limit != null) limit.cancel();
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
    return socket.remoteAddress();
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
    return reader;
  }

  @Override
  public Iterable<String> texts() {
    return texts;
  }

  @Override
  public <T> Iterable<T> texts(Function<String, T> reader) {
    return new WebSocketValueReader<>(this.reader, reader);
  }

  @Override
  @SuppressWarnings("unchecked") // it takes anything that size and bytes know
  public Actor<String> textActor() {
    return (Actor<String>) (Actor<?>) outbox.actor;
  }

  @Override
  @SuppressWarnings("unchecked") // as above
  public Actor<byte[]> binaryActor() {
    return (Actor<byte[]>) (Actor<?>) outbox.actor;
  }

  private static int size(Object message) {
    return switch (message) {
      case String text -> WebSocketFrame.size(WebSocketFrame.utf8Size(text));
      case byte[] data -> WebSocketFrame.size(data.length);
      default -> PING_FRAME.length;
    };
  }

  private byte[] bytes(Object message) {
    return switch (message) {
      case String text -> WebSocketFrame.text(text);
      case byte[] data -> WebSocketFrame.of(WebSocketFrame.BINARY, data);
      default -> ping();
    };
  }

  private byte[] ping() {
    boolean needed = !reader.heard;
    reader.heard = false;
    return needed ? PING_FRAME : NO_FRAME;
  }

  @Override
  @SuppressWarnings("try") // the variable of the lock is not used
  public void pong(byte[] data) throws IOException {
    var frame = WebSocketFrame.of(WebSocketFrame.PONG, data);
    try (var held = controls.acquire()) {
      if (!closeSent) socket.send(frame, 0, frame.length);
    }
  }

  // ---- the end

  @Override
  public void close(int code, String reason) {
    close(WebSocketClose.of(code, reason));
  }

  @Override
  public void close() {
    close(normal());
  }

  private WebSocketClose normal() {
    return new WebSocketClose(socket.shutdown.hasBegun() ? WebSocketClose.GOING_AWAY : WebSocketClose.NORMAL);
  }

  @Override
  public void close(WebSocketClose close) {
    closing.compareAndSet(null, close);
    outbox.actor.sendPoisonPill();
  }

  @Override
  public void closed(WebSocketClose close) {
    byClient = close;
    if (close.code() != WebSocketClose.GONE) close(new WebSocketClose(close.code())); // the code is echoed
    else {
      closing.compareAndSet(null, close);
      outbox.actor.askExit(); // as a cut does: whichever comes first, it was stopped
    }
  }

  @Override
  public boolean isClosing() {
    return closing.get() != null;
  }

  /** The last act of the outbox, also if it ended otherwise than by a close. */
  @SuppressWarnings("try") // the variable of the lock is not used
  private void sendClose() {
    closing.compareAndSet(null, normal());
    var close = closing.get();
    if (close.code() == WebSocketClose.GONE) return;
    try (var held = controls.acquire()) {
      closeSent = true;
      socket.sendFromOutbox(WebSocketFrame.of(WebSocketFrame.CLOSE, close.data()));
      if (byClient == null) closeLimit = clock.schedule(CLOSE_LIMIT, socket::endInput);
    } catch (IOException gone) {}
  }

  @Override
  public Optional<WebSocketClose> peerClose() {
    return Optional.ofNullable(byClient);
  }

  @Override
  public String toString() {
    return "WebSocket " + Lines.line(exchange.path()) + " of " + socket;
  }
}
