package io.fibry.net.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a UDP server whose socket fails, and that an ended server leaves neither fibers,
 * descriptors nor heap.
 */
class UdpFaultTest {
  private static final UdpSettings SETTINGS =
      new UdpSettings(InetAddress.getLoopbackAddress(), Optional.empty(), UdpSettings.MAX_CONTENT, 1, Optional.empty());

  private final List<Duration> delays = new CopyOnWriteArrayList<>();
  private final Clock clock = new Clock() {
    @Override
    public Timer schedule(Duration delay, Runnable task) {
      delays.add(delay);
      return super.schedule(delay, task);
    }
  };
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withScheduler(clock));
  private final List<String> received = new CopyOnWriteArrayList<>();
  private final UdpPeer peer = new UdpPeer();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    peer.close();
  }

  /** A socket whose first calls of receive fail. */
  private static class FailingSocket extends DatagramSocket {
    final AtomicInteger failures;
    final AtomicInteger attempts = new AtomicInteger();

    FailingSocket(int failures) throws SocketException {
      super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      this.failures = new AtomicInteger(failures);
    }

    @Override
    public void receive(DatagramPacket packet) throws IOException {
      attempts.incrementAndGet();
      if (failures.getAndDecrement() > 0) throw new IOException("No buffer space available");
      super.receive(packet);
    }
  }

  private UdpReceiver server(FailingSocket socket) {
    return new UdpReceiver(scope.anonymous(), new UdpSockets(socket, socket),
        (self, packet) -> received.add(UdpPeer.text(packet)), SETTINGS).start();
  }

  @Test
  void serverBacksOffLongerEachTimeReceivingFails() throws Exception {
    try (var logged = new Logged()) {
      var server = server(new FailingSocket(3));
      peer.send(server.port(), "at last");

      Patience.eventually(() -> {
        // advances only to the next timer, because after a minute the server would log the failure
        // again
        clock.manual.untilNext().ifPresent(clock.manual::advance);
        return received.equals(List.of("at last"));
      });

      assertEquals(List.of(Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(20)), delays);
      assertEquals(1, logged.text().lines().filter(line -> line.contains("could not receive")).count(), logged.text());
    }
  }

  @Test
  void serverWithFailingReceiveEndsOnAskExitWithoutRetry() throws Exception {
    try (var logged = new Logged()) {
      var socket = new FailingSocket(Integer.MAX_VALUE);
      var server = server(socket);
      Patience.eventually(() -> socket.attempts.get() == 1 && logged.text().contains("could not receive"));

      server.askExit(); // the clock does not advance, so the server makes no further attempt
      Patience.awaitEnd(server::waitForExit);

      assertEquals(1, socket.attempts.get());
    }
  }

  /**
   * The key function of the pool is called on the fiber that receives packets, so it can record
   * this fiber.
   */
  @Promise("26.4")
  @Test
  @Tag("jdk-scheduler")
  void receivingFiberEndsWithItsServer() {
    var fiber = new CompletableFuture<Thread>();
    var pool = Pools.<Object, UdpPacket>byKey(scope.anonymous(), 2, packet -> fiber.complete(Thread.currentThread()));
    var server = UdpServer.open(pool, 0, (self, packet) -> {}, o -> o);
    peer.send(server.port(), "hello");
    var receiver = Patience.value(fiber);
    Patience.awaitParked(receiver);

    server.askExit();
    Patience.awaitEnd(server::waitForExit);

    Patience.awaitEnd(receiver);
    assertTrue(receiver.isVirtual());
  }

  /**
   * The server kills the receiving fiber only a second after {@code close} has returned. Here
   * {@code close} waits for the fiber, so the closed socket alone must wake the fiber.
   */
  @Test
  void closedSocketWakesReceivingFiber() throws Exception {
    var receiveEnded = new CountDownLatch(1);
    var server = server(new FailingSocket(0) {
      @Override
      public void receive(DatagramPacket packet) throws IOException {
        try {
          super.receive(packet);
        } finally {
          receiveEnded.countDown();
        }
      }

      @Override
      public void close() {
        super.close();
        Patience.await(receiveEnded);
      }
    });
    peer.send(server.port(), "hello");
    Patience.eventually(() -> received.size() == 1);

    server.askExit();

    Patience.awaitEnd(server::waitForExit);
  }

  @Test
  void serverEndsWithFailureWhenItsSocketIsClosed() throws Exception {
    try (var logged = new Logged()) {
      var socket = new FailingSocket(0);
      var server = server(socket);
      Patience.eventually(() -> socket.attempts.get() == 1);

      socket.close();
      Patience.awaitEnd(server::waitForExit);

      Patience.eventually(() -> logged.text().contains("its socket was closed, for example"));
    }
  }

  @Test
  void receiverThatWaitsForCapacityIsWokenByKill() {
    var gate = new Gate();
    var server = UdpServer.open(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 0,
        (self, packet) -> gate.pass(), o -> o);
    peer.send(server.port(), "at hand");
    Patience.await(gate.entered);
    peer.send(server.port(), "waits");
    peer.send(server.port(), "waits for capacity");

    server.kill();

    Patience.awaitEnd(server::waitForExit);
  }

  @Test
  void endedServersLeaveNoDescriptors() throws Exception {
    runServer(); // the first server opens descriptors that stay open
    long descriptorsBefore = Descriptors.countOpen();

    WeakReference<?> lastServer = null;
    for (int i = 0; i < 50; i++) lastServer = runServer();
    long maxDescriptors = descriptorsBefore;

    Patience.eventually(() -> Descriptors.countOpen() <= maxDescriptors);
    assertTrue(LeakProbe.collected(lastServer), "an ended server is still reachable");
  }

  private WeakReference<?> runServer() {
    int receivedBefore = received.size();
    var server = UdpServer.open(ActorSystem.anonymous(), 0, (self, packet) -> received.add(""),
        o -> o.withRate(10, Duration.ofSeconds(1)));
    peer.send(server.port(), "hello");
    Patience.eventually(() -> received.size() > receivedBefore);
    server.close();
    return new WeakReference<>(server);
  }

}
