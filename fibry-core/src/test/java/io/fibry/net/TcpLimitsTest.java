package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Handler;
import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the limits of a connection with a clock that the tests advance. */
class TcpLimitsTest {
  /** A clock that knows which timers are set. */
  private static final class TimerClock extends Clock {
    private final Set<Object> pendingTimers = ConcurrentHashMap.newKeySet();
    // the thread that gets an Error when it reads the time next, or null
    private final AtomicReference<Thread> failingThread = new AtomicReference<>();

    @Override
    public long nanoTime() {
      if (failingThread.compareAndSet(Thread.currentThread(), null)) throw new OutOfMemoryError("for a test");
      return super.nanoTime();
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable task) {
      var timerKey = new Object();
      pendingTimers.add(timerKey);
      var timer = super.schedule(delay, () -> {
        pendingTimers.remove(timerKey);
        task.run();
      });
      return () -> {
        pendingTimers.remove(timerKey);
        return timer.cancel();
      };
    }

    /**
     * Returns how many timers are set. Synchronized like {@code schedule}, so a counted timer has
     * its deadline, and the test may advance the clock.
     */
    synchronized int timers() {
      return pendingTimers.size();
    }
  }

  private final TimerClock clock = new TimerClock();
  private final ServerScope serverScope = new ServerScope(o -> o.withScheduler(clock));
  private final CompletableFuture<Thread> handlerThread = new CompletableFuture<>();
  private final CompletableFuture<IOException> cutOffFailure = new CompletableFuture<>();

  @AfterEach
  void close() {
    Gate.openAll();
    // on another thread, because the kill grace ends only when this test advances the clock
    var closingThread = Patience.startFiber(serverScope::close);
    Patience.eventually(() -> {
      clock.manual.advance(Duration.ofSeconds(1));
      return !closingThread.isAlive() && clock.pendingTimers.isEmpty();
    });
  }

  private TcpAcceptor open(Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return serverScope.open(connection -> {
      handlerThread.complete(Thread.currentThread());
      try {
        handler.handle(connection);
      } catch (IOException failure) {
        cutOffFailure.complete(failure);
        throw failure;
      }
    }, options);
  }

  private static void echoAll(TcpConnection connection) throws IOException {
    for (int value = connection.inputStream().read(); value >= 0; value = connection.inputStream().read())
      connection.outputStream().write(value);
  }

  private void advanceSeconds(int seconds) {
    awaitClient();
    clock.manual.advance(Duration.ofSeconds(seconds));
  }

  /**
   * Waits until the conversation waits for its client, so that the limit for the client has begun.
   */
  private void awaitClient() {
    var thread = Patience.value(handlerThread);
    Patience.eventually(() -> !clock.pendingTimers.isEmpty() && ServerScope.isWaitingForClient(thread));
  }

  private void assertCutOffWith(String text) {
    var failure = Patience.value(cutOffFailure);
    assertInstanceOf(SocketTimeoutException.class, failure);
    assertTrue(failure.getMessage().contains(text), failure.getMessage());
  }

  @Promise("25.3")
  @Test
  void silentClientIsCutOffAtIdleLimit() {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o.withIdleLimit(Duration.ofSeconds(60)));
    try (var peer = new Peer(acceptor.port())) {
      advanceSeconds(59);
      assertEquals(1, acceptor.connections().size());

      advanceSeconds(2);

      assertCutOffWith("client /127.0.0.1:" + peer.socket.getLocalPort()
          + " sent nothing for 1 min (the idle limit), so it was cut off");
      peer.awaitClose();
    }
  }

  @Test
  void eachByteRestartsIdleLimit() throws Exception {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o.withIdleLimit(Duration.ofSeconds(60)));
    try (var peer = new Peer(acceptor.port())) {
      for (int i = 0; i < 5; i++) {
        advanceSeconds(50);
        assertEquals('x', peer.send("x").socket.getInputStream().read());
      }

      assertEquals(1, acceptor.connections().size());
    }
  }

  @Promise("25.3")
  @Test
  void activeClientIsCutOffAtTotalLimit() throws Exception {
    var acceptor = open(TcpLimitsTest::echoAll,
        o -> o.withIdleLimit(Duration.ofSeconds(60)).withTotalLimit(Duration.ofSeconds(100)));
    try (var peer = new Peer(acceptor.port())) {
      advanceSeconds(50);
      assertEquals('x', peer.send("x").socket.getInputStream().read());

      advanceSeconds(52);

      assertCutOffWith("lasted longer than 1 min 40 s (the total limit)");
      peer.awaitClose();
    }
  }

  @Test
  void workingHandlerIsNotCutOffWithoutTotalLimit() {
    var gate = new Gate();
    var acceptor = open(connection -> gate.passUninterruptibly(), o -> o);
    try (var peer = new Peer(acceptor.port())) {
      Patience.await(gate.entered);
      clock.manual.advance(Duration.ofSeconds(1_000));

      assertEquals(1, acceptor.connections().size());
      gate.open();
      assertEquals("", peer.readToEnd());
    }
  }

  @Promise("25.3")
  @Test
  void clientThatNeverReadsIsCutOffAtWriteLimit() {
    var acceptor = open(connection -> {
      while (true) connection.outputStream().write(new byte[1 << 20]);
    }, o -> o.withWriteLimit(Duration.ofSeconds(30)));
    try (var peer = new Peer(acceptor.port())) {
      advanceSeconds(29);
      assertFalse(cutOffFailure.isDone());

      Patience.eventually(() -> {
        // the write that blocks may have begun after the first advance of the clock
        clock.manual.advance(Duration.ofSeconds(1));
        return cutOffFailure.isDone();
      });

      assertCutOffWith("did not take what was written to it within 30 s (the write limit)");
      peer.awaitClose();
    }
  }

  /**
   * The connection must be reset. After a normal end, the client would take the response for
   * complete, and the system would buffer the unread bytes for as long as the client likes.
   */
  @Promise("25.10")
  @Test
  void clientThatNeverReadsGetsConnectionReset() {
    var acceptor = open(connection -> {
      while (true) connection.outputStream().write(new byte[1 << 20]);
    }, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      awaitClient();
      Patience.eventually(() -> {
        clock.manual.advance(Duration.ofSeconds(1));
        return cutOffFailure.isDone();
      });

      assertInstanceOf(SocketException.class, assertThrows(UncheckedIOException.class, peer::readToEnd).getCause());
    }
  }

  @Promise("25.3")
  @Test
  void limitsHoldAfterFailedLimitCheck() {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      awaitClient();
      clock.failingThread.set(Thread.currentThread());
      clock.manual.advance(Duration.ofSeconds(1));

      assertNull(clock.failingThread.get());
      advanceSeconds(61);
      assertCutOffWith("sent nothing for 1 min");
      peer.awaitClose();
    }
  }

  /**
   * The limit of a handshake is ten seconds in all, and further bytes of the client do not extend
   * it.
   */
  @Promise("25.12")
  @Test
  void unfinishedHandshakeIsCutOffAfterTenSeconds() throws Exception {
    var tls = Certificates.context();
    var acceptor = open(TcpLimitsTest::echoAll, o -> o.withTls(tls).withMaxConnections(1));
    try (var handshakingPeer = new Peer(acceptor.port())) {
      handshakingPeer.send(clientHello(tls));
      // the server has replied, so the limit has begun
      assertEquals(22, handshakingPeer.socket.getInputStream().read());
      clock.manual.advance(Duration.ofSeconds(8));
      handshakingPeer.send(new byte[] {22, 3, 3, 2, 0, 1}); // the first of 512 bytes
      clock.manual.advance(Duration.ofSeconds(1));
      assertEquals(1, acceptor.connections().size());

      clock.manual.advance(Duration.ofSeconds(2));

      handshakingPeer.awaitClose();
      try (var nextClient = Certificates.connect(tls, acceptor.port())) { // the permit is free again
        nextClient.getOutputStream().write('x');
        assertEquals('x', nextClient.getInputStream().read());
      }
    }
  }

  /** Returns the ClientHello, the first message of a handshake. */
  private static byte[] clientHello(SSLContext tls) throws SSLException {
    var engine = tls.createSSLEngine();
    engine.setUseClientMode(true);
    var buffer = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), buffer);
    return Arrays.copyOf(buffer.array(), buffer.position());
  }

  @Test
  void cutOffClientIsNoFailureOfHandler() {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      advanceSeconds(62);

      peer.awaitClose();
      Patience.eventually(() -> serverScope.scope.report().handled() == 1);
      assertEquals(0, serverScope.letters.all.size());
    }
  }

  @Test
  void acceptorHasSingleTimerOnlyWhileConnectionsAreOpen() {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o);
    assertEquals(0, clock.pendingTimers.size());
    try (var firstPeer = new Peer(acceptor.port()).send("x"); var secondPeer = new Peer(acceptor.port()).send("y")) {
      Patience.eventually(() -> acceptor.connections().size() == 2);
      assertEquals(1, clock.pendingTimers.size());
      firstPeer.endOutput();
      secondPeer.endOutput();
      assertEquals("x", firstPeer.readToEnd());
      assertEquals("y", secondPeer.readToEnd());
    }

    Patience.eventually(() -> {
      clock.manual.advance(Duration.ofSeconds(1));
      return clock.pendingTimers.isEmpty();
    });
  }

  @Test
  void drainLimitUsesClockOfScope() {
    var acceptor = open(TcpLimitsTest::echoAll, o -> o.withDrainLimit(Duration.ofSeconds(10)));
    try (var peer = new Peer(acceptor.port()).send("x")) {
      awaitClient();
      acceptor.sendPoisonPill();
      Patience.eventually(() -> clock.timers() == 2);
      clock.manual.advance(Duration.ofSeconds(9));
      assertFalse(acceptor.waitForExit(Duration.ofMillis(1)));

      clock.manual.advance(Duration.ofSeconds(1));

      peer.awaitClose();
      Patience.awaitEnd(acceptor::waitForExit);
    }
    // the clock does not advance, so the timers must have been cancelled
    Patience.eventually(clock.pendingTimers::isEmpty);
  }

  @Test
  void maxDurationAsLimitNeverCutsOffClient() {
    var noLimit = Duration.ofSeconds(Long.MAX_VALUE);
    var acceptor = open(TcpLimitsTest::echoAll,
        o -> o.withIdleLimit(noLimit).withTotalLimit(noLimit).withWriteLimit(noLimit).withDrainLimit(noLimit));
    try (var peer = new Peer(acceptor.port())) {
      advanceSeconds(10_000);

      assertEquals(1, acceptor.connections().size());
      peer.send("x").endOutput();
      assertEquals("x", peer.readToEnd());
    }
  }
}
