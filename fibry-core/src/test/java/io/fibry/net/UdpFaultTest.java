package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.Gate;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.io.Descriptors;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Faults below a UDP server, and what is left of it. */
class UdpFaultTest {
  private final List<Duration> rests = new CopyOnWriteArrayList<>();
  private final Clock clock = new Clock() {
    @Override
    public Timer schedule(Duration delay, Runnable task) {
      rests.add(delay);
      return super.schedule(delay, task);
    }
  };
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withScheduler(clock));
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private final UdpPeer peer = new UdpPeer();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    peer.close();
  }

  /** Fails to receive. */
  private static class Broken extends DatagramSocket {
    final AtomicInteger failures;
    final AtomicInteger tries = new AtomicInteger();

    Broken(int failures) throws SocketException {
      super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      this.failures = new AtomicInteger(failures);
    }

    @Override
    public void receive(DatagramPacket packet) throws IOException {
      tries.incrementAndGet();
      if (failures.getAndDecrement() > 0) throw new IOException("No buffer space available");
      super.receive(packet);
    }
  }

  private UdpReceiver server(Broken socket) {
    return new UdpReceiver(scope.anonymous(), new UdpSockets(socket, socket),
        (self, packet) -> seen.add(UdpPeer.text(packet)), new UdpServer.Options()).start();
  }

  @Test
  void serverBacksOffLongerEachTimeReceivingFails() throws Exception {
    try (var logged = new Logged()) {
      var server = server(new Broken(3));
      peer.send(server.port(), "at last");

      Patience.eventually(() -> {
        // no farther than it rests: a minute later it logs again
        clock.manual.untilNext().ifPresent(clock.manual::advance);
        return seen.equals(List.of("at last"));
      });

      assertEquals(List.of(Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(20)), rests);
      assertEquals(1, logged.text().lines().filter(line -> line.contains("could not receive")).count(), logged.text());
    }
  }

  @Test
  void serverThatCannotReceiveNeitherSpinsNorOutlivesItsEnd() throws Exception {
    try (var logged = new Logged()) {
      var socket = new Broken(Integer.MAX_VALUE);
      var server = server(socket);
      Patience.eventually(() -> socket.tries.get() == 1 && logged.text().contains("could not receive"));

      server.askExit(); // time is stopped
      Patience.ended(server::waitForExit);

      assertEquals(1, socket.tries.get());
    }
  }

  /**
   * W-15: the earlier library's server stayed blocked. A key is asked on the fiber that receives.
   */
  @Promise("26.4")
  @Test
  void theFiberThatReceivesHasEndedWhenTheServerHas() {
    var fiber = new CompletableFuture<Thread>();
    var keyed = Pools.<Object, UdpPacket>byKey(scope.anonymous(), 2, packet -> fiber.complete(Thread.currentThread()));
    var server = UdpServer.open(keyed, 0, (self, packet) -> {}, o -> o);
    peer.send(server.port(), "hello");
    var receiving = Patience.value(fiber);
    Patience.parked(receiving);

    server.askExit();
    Patience.ended(server::waitForExit);

    Patience.joined(receiving);
    assertTrue(receiving.isVirtual());
  }

  /** The end kills the fiber a second after the close: the close alone must wake it. */
  @Test
  void closeOfTheSocketEndsTheReceive() throws Exception {
    var left = new CountDownLatch(1);
    var server = server(new Broken(0) {
      @Override
      public void receive(DatagramPacket packet) throws IOException {
        try {
          super.receive(packet);
        } finally {
          left.countDown();
        }
      }

      @Override
      public void close() {
        super.close();
        Patience.await(left);
      }
    });
    peer.send(server.port(), "hello");
    Patience.eventually(() -> seen.size() == 1);

    server.askExit();

    Patience.ended(server::waitForExit);
  }

  @Test
  void serverEndsWithFailureWhenItsSocketIsClosed() throws Exception {
    try (var logged = new Logged()) {
      var socket = new Broken(0);
      var server = server(socket);
      Patience.eventually(() -> socket.tries.get() == 1);

      socket.close();
      Patience.ended(server::waitForExit);

      Patience.eventually(() -> logged.text().contains("its socket was closed below it"));
    }
  }

  @Test
  void receiverThatWaitsForRoomIsWokenByEnd() {
    var gate = new Gate();
    var server = UdpServer.open(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), 0,
        (self, packet) -> gate.pass(), o -> o);
    peer.send(server.port(), "at hand");
    Patience.await(gate.entered);
    peer.send(server.port(), "waits");
    peer.send(server.port(), "waits for room");

    server.kill();

    Patience.ended(server::waitForExit);
  }

  @Test
  void manyServersLeaveNothing() throws Exception {
    round(); // some is made once
    long before = Descriptors.open();

    WeakReference<?> last = null;
    for (int i = 0; i < 50; i++) last = round();
    long after = before;

    Patience.eventually(() -> Descriptors.open() <= after);
    assertTrue(LeakProbe.collected(last), "an ended server is kept by somebody");
  }

  private WeakReference<?> round() {
    int handled = seen.size();
    var server = UdpServer.open(ActorSystem.anonymous(), 0, (self, packet) -> seen.add(""),
        o -> o.withRate(10, Duration.ofSeconds(1)));
    peer.send(server.port(), "hello");
    Patience.eventually(() -> seen.size() > handled);
    server.close();
    return new WeakReference<>(server);
  }

}
