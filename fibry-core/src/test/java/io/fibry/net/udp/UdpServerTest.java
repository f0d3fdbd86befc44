package io.fibry.net.udp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which packets a UDP server receives and sends. */
class UdpServerTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<UdpPacket> received = new CopyOnWriteArrayList<>();
  private final UdpPeer peer = new UdpPeer();

  private UdpServer server(UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(scope.named("udp").onFailure(FailurePolicy.resume().withoutLog()), 0,
        (self, packet) -> received.add(packet), options);
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    peer.close();
  }

  // ---- receiving

  @Test
  void serverListensOnLoopbackAddressByDefault() {
    var server = server(o -> o);

    assertEquals("UDP server 'udp' on " + InetAddress.getLoopbackAddress().getHostAddress() + " port " + server.port(),
        server.toString());
  }

  @Test
  void serverListensOnConfiguredAddress() throws Exception {
    var address = InetAddress.getByName("127.0.0.2");
    var server = server(o -> o.withAddress(address));

    peer.send(new InetSocketAddress(address, server.port()), "hello".getBytes());

    Patience.eventually(() -> received.size() == 1);
    assertTrue(server.toString().contains("127.0.0.2"), server.toString());
  }

  @Test
  void packetHasSenderAndBytes() {
    var server = server(o -> o);

    peer.send(server.port(), new byte[] {1, 2, 3});
    Patience.eventually(() -> received.size() == 1);

    assertEquals(new UdpPacket(peer.address(), new byte[] {1, 2, 3}, false), received.getFirst());
  }

  @Test
  void eachPacketHasItsOwnBytes() {
    var server = server(o -> o);

    peer.send(server.port(), "one");
    peer.send(server.port(), "two");
    Patience.eventually(() -> received.size() == 2);

    assertNotSame(received.get(0).data(), received.get(1).data());
    assertEquals(List.of("one", "two"), received.stream().map(UdpPeer::text).toList());
  }

  @Test
  void longestPossiblePacketArrivesComplete() {
    var server = server(o -> o);
    var data = new byte[65_507];
    data[65_506] = 7;

    peer.send(server.port(), data);
    Patience.eventually(() -> received.size() == 1);

    assertArrayEquals(data, received.getFirst().data());
    assertFalse(received.getFirst().isTruncated());
  }

  @Test
  void emptyPacketIsReceived() {
    var server = server(o -> o);

    peer.send(server.port(), new byte[0]);
    Patience.eventually(() -> received.size() == 1);

    assertEquals(new UdpPacket(peer.address(), new byte[0], false), received.getFirst());
  }

  @Promise("26.1")
  @Test
  void tooLongPacketIsTruncatedAndMarked() {
    var server = server(o -> o.withMaxPacket(4));

    peer.send(server.port(), "1234");
    peer.send(server.port(), "12345");
    peer.send(server.port(), "1");
    Patience.eventually(() -> received.size() == 3);

    assertEquals(List.of("1234", "1234", "1"), received.stream().map(UdpPeer::text).toList());
    assertEquals(List.of(false, true, false), received.stream().map(UdpPacket::isTruncated).toList());
  }

  @Promise("26.2")
  @Test
  void packetsBeyondMailboxCapacityAreDroppedAndCounted() {
    var gate = new Gate();
    var server = UdpServer.open(scope.named("udp"), 0, (self, packet) -> gate.pass(), o -> o);
    peer.send(server.port(), "at hand");
    Patience.await(gate.entered);

    Patience.eventually("the mailbox has no bound", () -> {
      peer.send(server.port(), "one more");
      return server.dropped() > 0;
    });

    Patience.eventually(
        () -> letters.messages(Reason.DROPPED).size() + letters.messages(Reason.REJECTED).size() == server.dropped());
  }

  @Test
  void poolHandlesSeveralPacketsAtOnce() {
    var gate = new Gate();
    var server = UdpServer.open(Pools.fixed(scope.anonymous(), 2), 0, (self, packet) -> {
      if (packet.data().length == 1) gate.pass();
      received.add(packet);
    }, o -> o);
    peer.send(server.port(), "1");
    Patience.await(gate.entered);

    peer.send(server.port(), "22");

    Patience.eventually(() -> received.size() == 1);
  }

  @Test
  void failingKeyFunctionDropsOnlyItsPacket() {
    try (var logged = new Logged()) {
      var pool = Pools.<Object, UdpPacket>byKey(scope.anonymous(), 2, packet -> 1 / packet.data().length);
      var server = UdpServer.open(pool, 0, (self, packet) -> received.add(packet), o -> o);

      peer.send(server.port(), new byte[0]);
      peer.send(server.port(), new byte[1]);
      Patience.eventually(() -> received.size() == 1);

      assertEquals(1, server.dropped());
      assertTrue(logged.text().contains("could not pass 0 bytes from " + peer.address()), logged.text());
    }
  }

  // ---- rates

  @Promise("26.2")
  @Test
  void senderAddressIsLimitedToItsRate() {
    var server = server(o -> o.withRate(2, Duration.ofSeconds(2)));

    for (int i = 0; i < 5; i++) peer.send(server.port(), "now " + i);
    Patience.eventually(() -> server.dropped() == 3);
    clock.advance(Duration.ofSeconds(1));
    for (int i = 0; i < 2; i++) peer.send(server.port(), "later " + i);
    Patience.eventually(() -> server.dropped() == 4);

    Patience.eventually(() -> received.size() == 3);
    assertEquals(List.of("now 0", "now 1", "later 0"), received.stream().map(UdpPeer::text).toList());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void packetsOfOneAddressDoNotUseUpRateOfOtherAddress() throws Exception {
    var limiter = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));

    assertTrue(limiter.tryAdmit(InetAddress.getByName("10.0.0.1")));
    assertTrue(limiter.tryAdmit(InetAddress.getByName("10.0.0.2")));
    assertFalse(limiter.tryAdmit(InetAddress.getByName("10.0.0.1")));
  }

  @Test
  void addressesOfOneIpv6NetworkShareRate() throws Exception {
    var limiter = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));

    assertTrue(limiter.tryAdmit(InetAddress.getByName("2001:db8::1")));
    assertFalse(limiter.tryAdmit(InetAddress.getByName("2001:db8::2")));
    assertTrue(limiter.tryAdmit(InetAddress.getByName("2001:db8:0:1::2")));
  }

  @Test
  void silentAddressesAreForgottenAtMemoryLimit() throws Exception {
    var limiter = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));
    var activeAddress = InetAddress.getByName("10.0.0.1");
    limiter.tryAdmit(activeAddress);

    for (int i = 0; i < 20_000; i++) {
      limiter.tryAdmit(InetAddress.getByAddress(new byte[] {11, (byte) (i >> 16), (byte) (i >> 8), (byte) i}));
      if (i % 1_000 == 0) assertFalse(limiter.tryAdmit(activeAddress), "an active address was forgotten");
    }

    assertEquals(SourceRateLimiter.MAX_SENDERS, limiter.size());
  }

  // ---- sending

  @Promise("26.3")
  @Test
  void replyLongerThanItsRequestIsRefused() throws Exception {
    var server = server(o -> o);
    peer.send(server.port(), "1234");
    Patience.eventually(() -> received.size() == 1);

    server.reply(received.getFirst(), "4321".getBytes());
    var failure = assertThrows(IllegalArgumentException.class, () -> server.reply(received.getFirst(), new byte[5]));

    assertEquals("4321", peer.receive());
    assertTrue(failure.getMessage().contains("a reply of 5 bytes to 4 bytes from " + peer.address() + " exceeds 4"),
        failure.getMessage());
  }

  @Test
  void maxReplyOptionPermitsReplyLongerThanRequest() throws Exception {
    var server = server(o -> o.withMaxReply(3));
    peer.send(server.port(), "12");
    Patience.eventually(() -> received.size() == 1);

    server.reply(received.getFirst(), "123456".getBytes());

    assertEquals("123456", peer.receive());
    assertThrows(IllegalArgumentException.class, () -> server.reply(received.getFirst(), new byte[7]));
  }

  @Test
  void sentPacketComesFromPortOfServer() throws Exception {
    var server = server(o -> o);

    server.send(peer.address(), "unasked".getBytes());
    var packet = new java.net.DatagramPacket(new byte[10], 10);
    peer.socket.receive(packet);

    assertEquals(server.port(), packet.getPort());
  }

  @Test
  void sendByInterruptedThreadDoesNotStopServer() throws Exception {
    var server = server(o -> o);

    var sender = Thread.ofVirtual().start(() -> {
      Thread.currentThread().interrupt();
      try {
        server.send(peer.address(), "sent".getBytes());
      } catch (java.io.IOException failure) {
        throw new UncheckedIOException(failure);
      }
    });
    Patience.awaitEnd(sender);

    assertEquals("sent", peer.receive());
    peer.send(server.port(), "still there");
    Patience.eventually(() -> received.size() == 1);
  }
}
