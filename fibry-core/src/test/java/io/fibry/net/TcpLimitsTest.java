package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Clock;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Promise;
import io.fibry.support.Certificates;
import io.fibry.support.Patience;
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

/** The limits of a connection, by a clock that tests move. */
class TcpLimitsTest {
  /** Knows which timers are due. */
  private static final class Watched extends Clock {
    private final Set<Object> due = ConcurrentHashMap.newKeySet();
    // the next reader of the time gets an Error
    private final AtomicReference<Thread> broken = new AtomicReference<>();

    @Override
    public long nanoTime() {
      if (broken.compareAndSet(Thread.currentThread(), null)) throw new OutOfMemoryError("for a test");
      return super.nanoTime();
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable task) {
      var mine = new Object();
      due.add(mine);
      var timer = super.schedule(delay, () -> {
        due.remove(mine);
        task.run();
      });
      return () -> {
        due.remove(mine);
        return timer.cancel();
      };
    }

    /**
     * Timers that are set. No timer is set after the clock has moved, which would be late by that.
     */
    synchronized int timers() {
      return due.size();
    }
  }

  private final Watched clock = new Watched();
  private final ServerScope served = new ServerScope(o -> o.withScheduler(clock));
  private final CompletableFuture<Thread> talking = new CompletableFuture<>();
  private final CompletableFuture<IOException> cut = new CompletableFuture<>();

  @AfterEach
  void close() {
    Gate.openAll();
    var closing = Patience.startFiber(served::close); // the grace needs this clock
    Patience.eventually(() -> {
      clock.manual.advance(Duration.ofSeconds(1));
      return !closing.isAlive() && clock.due.isEmpty();
    });
  }

  private TcpAcceptor open(Handler<TcpConnection> handler, UnaryOperator<TcpOptions> options) {
    return served.open(connection -> {
      talking.complete(Thread.currentThread());
      try {
        handler.handle(connection);
      } catch (IOException failure) {
        cut.complete(failure);
        throw failure;
      }
    }, options);
  }

  private static void readAll(TcpConnection connection) throws IOException {
    for (int one = connection.inputStream().read(); one >= 0; one = connection.inputStream().read())
      connection.outputStream().write(one);
  }

  private void pass(int seconds) {
    awaitClient();
    clock.manual.advance(Duration.ofSeconds(seconds));
  }

  /** Until the conversation reads or writes, so that its limit has begun. */
  private void awaitClient() {
    var thread = Patience.value(talking);
    Patience.eventually(() -> !clock.due.isEmpty() && ServerScope.isWaitingForClient(thread));
  }

  private void cutWith(String text) {
    var told = Patience.value(cut);
    assertInstanceOf(SocketTimeoutException.class, told);
    assertTrue(told.getMessage().contains(text), told.getMessage());
  }

  @Promise("25.3")
  @Test
  void silentClientIsCutOffAtIdleLimit() {
    var acceptor = open(TcpLimitsTest::readAll, o -> o.withIdleLimit(Duration.ofSeconds(60)));
    try (var peer = new Peer(acceptor.port())) {
      pass(59);
      assertEquals(1, acceptor.connections().size());

      pass(2);

      cutWith("client /127.0.0.1:" + peer.socket.getLocalPort()
          + " sent nothing for 1 min (the idle limit), so it was cut off");
      peer.closed();
    }
  }

  @Test
  void eachByteBeginsTheIdleLimitAnew() throws Exception {
    var acceptor = open(TcpLimitsTest::readAll, o -> o.withIdleLimit(Duration.ofSeconds(60)));
    try (var peer = new Peer(acceptor.port())) {
      for (int i = 0; i < 5; i++) {
        pass(50);
        assertEquals('x', peer.send("x").socket.getInputStream().read());
      }

      assertEquals(1, acceptor.connections().size());
    }
  }

  @Promise("25.3")
  @Test
  void slowClientIsCutOffAtTotalLimit() throws Exception {
    var acceptor = open(TcpLimitsTest::readAll,
        o -> o.withIdleLimit(Duration.ofSeconds(60)).withTotalLimit(Duration.ofSeconds(100)));
    try (var peer = new Peer(acceptor.port())) {
      pass(50);
      assertEquals('x', peer.send("x").socket.getInputStream().read());

      pass(52);

      cutWith("lasted longer than 1 min 40 s (the total limit)");
      peer.closed();
    }
  }

  @Test
  void aHandlerThatIsAtWorkHasTimeUnlessThereIsATotalLimit() {
    var gate = new Gate();
    var acceptor = open(connection -> gate.passDeaf(), o -> o);
    try (var peer = new Peer(acceptor.port())) {
      Patience.await(gate.entered);
      clock.manual.advance(Duration.ofSeconds(1_000));

      assertEquals(1, acceptor.connections().size());
      gate.open();
      assertEquals("", peer.rest());
    }
  }

  @Promise("25.3")
  @Test
  void clientThatNeverReadsIsCutOffAtWriteLimit() {
    var acceptor = open(connection -> {
      while (true) connection.outputStream().write(new byte[1 << 20]);
    }, o -> o.withWriteLimit(Duration.ofSeconds(30)));
    try (var peer = new Peer(acceptor.port())) {
      pass(29);
      assertFalse(cut.isDone());

      Patience.eventually(() -> {
        // the last complete write began later
        clock.manual.advance(Duration.ofSeconds(1));
        return cut.isDone();
      });

      cutWith("did not take what was written to it within 30 s (the write limit)");
      peer.closed();
    }
  }

  /**
   * An end would look like a whole answer, and the system would keep what is unread for as long as
   * the client likes.
   */
  @Promise("25.10")
  @Test
  void clientThatNeverReadsSeesBrokenConnection() {
    var acceptor = open(connection -> {
      while (true) connection.outputStream().write(new byte[1 << 20]);
    }, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      awaitClient();
      Patience.eventually(() -> {
        clock.manual.advance(Duration.ofSeconds(1));
        return cut.isDone();
      });

      assertInstanceOf(SocketException.class, assertThrows(UncheckedIOException.class, peer::rest).getCause());
    }
  }

  @Promise("25.3")
  @Test
  void theLimitsHoldAfterALookThatFailed() {
    var acceptor = open(TcpLimitsTest::readAll, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      awaitClient();
      clock.broken.set(Thread.currentThread());
      clock.manual.advance(Duration.ofSeconds(1));

      assertNull(clock.broken.get());
      pass(61);
      cutWith("sent nothing for 1 min");
      peer.closed();
    }
  }

  /** All of it has ten seconds, and more bytes give no more time. */
  @Promise("25.12")
  @Test
  void halfAHandshakeIsCutOffInTime() throws Exception {
    var tls = Certificates.context();
    var acceptor = open(TcpLimitsTest::readAll, o -> o.withTls(tls).withMaxConnections(1));
    try (var half = new Peer(acceptor.port())) {
      half.send(hello(tls));
      assertEquals(22, half.socket.getInputStream().read()); // it was answered, so the limit has begun
      clock.manual.advance(Duration.ofSeconds(8));
      half.send(new byte[] {22, 3, 3, 2, 0, 1}); // of 512 bytes one
      clock.manual.advance(Duration.ofSeconds(1));
      assertEquals(1, acceptor.connections().size());

      clock.manual.advance(Duration.ofSeconds(2));

      half.closed();
      try (var next = Certificates.connect(tls, acceptor.port())) { // its place is free again
        next.getOutputStream().write('x');
        assertEquals('x', next.getInputStream().read());
      }
    }
  }

  /** The first words of a client. */
  private static byte[] hello(SSLContext tls) throws SSLException {
    var engine = tls.createSSLEngine();
    engine.setUseClientMode(true);
    var hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), hello);
    return Arrays.copyOf(hello.array(), hello.position());
  }

  @Test
  void cutOffClientIsNoFailureOfHandler() {
    var acceptor = open(TcpLimitsTest::readAll, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      pass(62);

      peer.closed();
      Patience.eventually(() -> served.scope.report().handled() == 1);
      assertEquals(0, served.letters.all.size());
    }
  }

  @Test
  void acceptorHasSingleTimerOnlyWhileConnectionsAreOpen() {
    var acceptor = open(TcpLimitsTest::readAll, o -> o);
    assertEquals(0, clock.due.size());
    try (var one = new Peer(acceptor.port()).send("x"); var other = new Peer(acceptor.port()).send("y")) {
      Patience.eventually(() -> acceptor.connections().size() == 2);
      assertEquals(1, clock.due.size());
      one.end();
      other.end();
      assertEquals("x", one.rest());
      assertEquals("y", other.rest());
    }

    Patience.eventually(() -> {
      clock.manual.advance(Duration.ofSeconds(1));
      return clock.due.isEmpty();
    });
  }

  @Test
  void theDrainLimitIsByTheClockOfTheScope() {
    var acceptor = open(TcpLimitsTest::readAll, o -> o.withDrainLimit(Duration.ofSeconds(10)));
    try (var peer = new Peer(acceptor.port()).send("x")) {
      awaitClient();
      acceptor.sendPoisonPill();
      Patience.eventually(() -> clock.timers() == 2);
      clock.manual.advance(Duration.ofSeconds(9));
      assertFalse(acceptor.waitForExit(Duration.ofMillis(1)));

      clock.manual.advance(Duration.ofSeconds(1));

      peer.closed();
      Patience.ended(acceptor::waitForExit);
    }
    Patience.eventually(clock.due::isEmpty); // canceled, since time is stopped
  }

  @Test
  void endlessLimitIsNoLimit() {
    var ever = Duration.ofSeconds(Long.MAX_VALUE);
    var acceptor = open(TcpLimitsTest::readAll,
        o -> o.withIdleLimit(ever).withTotalLimit(ever).withWriteLimit(ever).withDrainLimit(ever));
    try (var peer = new Peer(acceptor.port())) {
      pass(10_000);

      assertEquals(1, acceptor.connections().size());
      peer.send("x").end();
      assertEquals("x", peer.rest());
    }
  }
}
