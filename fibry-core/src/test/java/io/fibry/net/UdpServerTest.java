package io.fibry.net;

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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** What a UDP server receives and sends. */
class UdpServerTest {
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withScheduler(clock));
  private final List<UdpPacket> seen = new CopyOnWriteArrayList<>();
  private final UdpPeer peer = new UdpPeer();

  private UdpServer server(UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(scope.named("udp").onFailure(FailurePolicy.resume().withoutLog()), 0,
        (self, packet) -> seen.add(packet), options);
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
    peer.close();
  }

  // ---- receiving

  @Test
  void listensOnTheLoopbackInterfaceUnlessTold() {
    var server = server(o -> o);

    assertEquals("UDP server 'udp' on " + InetAddress.getLoopbackAddress().getHostAddress() + " port " + server.port(),
        server.toString());
  }

  @Test
  void listensWhereItIsTold() throws Exception {
    var second = InetAddress.getByName("127.0.0.2");
    var server = server(o -> o.withAddress(second));

    peer.send(new InetSocketAddress(second, server.port()), "hello".getBytes());

    Patience.eventually(() -> seen.size() == 1);
    assertTrue(server.toString().contains("127.0.0.2"), server.toString());
  }

  @Test
  void thePacketSaysWhoSentItAndHasItsBytes() {
    var server = server(o -> o);

    peer.send(server.port(), new byte[] {1, 2, 3});
    Patience.eventually(() -> seen.size() == 1);

    assertEquals(new UdpPacket(peer.address(), new byte[] {1, 2, 3}, false), seen.getFirst());
  }

  @Test
  void eachPacketIsACopyOfItsOwn() {
    var server = server(o -> o);

    peer.send(server.port(), "one");
    peer.send(server.port(), "two");
    Patience.eventually(() -> seen.size() == 2);

    assertNotSame(seen.get(0).data(), seen.get(1).data());
    assertEquals(List.of("one", "two"), seen.stream().map(UdpPeer::text).toList());
  }

  @Test
  void theLongestPacketThereIsComesWhole() {
    var server = server(o -> o);
    var longest = new byte[65_507];
    longest[65_506] = 7;

    peer.send(server.port(), longest);
    Patience.eventually(() -> seen.size() == 1);

    assertArrayEquals(longest, seen.getFirst().data());
    assertFalse(seen.getFirst().isTruncated());
  }

  @Test
  void anEmptyPacketIsAPacket() {
    var server = server(o -> o);

    peer.send(server.port(), new byte[0]);
    Patience.eventually(() -> seen.size() == 1);

    assertEquals(new UdpPacket(peer.address(), new byte[0], false), seen.getFirst());
  }

  @Promise("26.1")
  @Test
  void aPacketThatIsTooLongIsTruncatedAndSaysSo() {
    var server = server(o -> o.withMaxPacket(4));

    peer.send(server.port(), "1234");
    peer.send(server.port(), "12345");
    peer.send(server.port(), "1");
    Patience.eventually(() -> seen.size() == 3);

    assertEquals(List.of("1234", "1234", "1"), seen.stream().map(UdpPeer::text).toList());
    assertEquals(List.of(false, true, false), seen.stream().map(UdpPacket::isTruncated).toList());
  }

  @Promise("26.2")
  @Test
  void excessPacketsAreDroppedAndCounted() {
    var gate = new Gate();
    var server = UdpServer.open(scope.named("udp"), 0, (self, packet) -> gate.pass(), o -> o);
    peer.send(server.port(), "at hand");
    Patience.await(gate.entered);

    Patience.eventually("its mailbox has no bound", () -> {
      peer.send(server.port(), "one more");
      return server.dropped() > 0;
    });

    Patience.eventually(
        () -> letters.messages(Reason.DROPPED).size() + letters.messages(Reason.REJECTED).size() == server.dropped());
  }

  @Test
  void aPoolHandlesSeveralAtOnce() {
    var gate = new Gate();
    var server = UdpServer.open(Pools.fixed(scope.anonymous(), 2), 0, (self, packet) -> {
      if (packet.data().length == 1) gate.pass();
      seen.add(packet);
    }, o -> o);
    peer.send(server.port(), "1");
    Patience.await(gate.entered);

    peer.send(server.port(), "22");

    Patience.eventually(() -> seen.size() == 1);
  }

  @Test
  void aKeyThatFailsCostsOnePacketAndNotTheServer() {
    try (var logged = new Logged()) {
      var keyed = Pools.<Object, UdpPacket>byKey(scope.anonymous(), 2, packet -> 1 / packet.data().length);
      var server = UdpServer.open(keyed, 0, (self, packet) -> seen.add(packet), o -> o);

      peer.send(server.port(), new byte[0]);
      peer.send(server.port(), new byte[1]);
      Patience.eventually(() -> seen.size() == 1);

      assertEquals(1, server.dropped());
      assertTrue(logged.text().contains("could not hand over 0 bytes from " + peer.address()), logged.text());
    }
  }

  // ---- rates

  @Promise("26.2")
  @Test
  void addressIsLimitedToItsRate() {
    var server = server(o -> o.withRate(2, Duration.ofSeconds(2)));

    for (int i = 0; i < 5; i++) peer.send(server.port(), "now " + i);
    Patience.eventually(() -> server.dropped() == 3);
    clock.advance(Duration.ofSeconds(1));
    for (int i = 0; i < 2; i++) peer.send(server.port(), "later " + i);
    Patience.eventually(() -> server.dropped() == 4);

    Patience.eventually(() -> seen.size() == 3);
    assertEquals(List.of("now 0", "now 1", "later 0"), seen.stream().map(UdpPeer::text).toList());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void addressDoesNotSpendRateOfAnother() throws Exception {
    var rates = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));

    assertTrue(rates.tryAdmit(InetAddress.getByName("10.0.0.1")));
    assertTrue(rates.tryAdmit(InetAddress.getByName("10.0.0.2")));
    assertFalse(rates.tryAdmit(InetAddress.getByName("10.0.0.1")));
  }

  @Test
  void allAddressesOfOneNetworkOfVersion6ShareARate() throws Exception {
    var rates = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));

    assertTrue(rates.tryAdmit(InetAddress.getByName("2001:db8::1")));
    assertFalse(rates.tryAdmit(InetAddress.getByName("2001:db8::2")));
    assertTrue(rates.tryAdmit(InetAddress.getByName("2001:db8:0:1::2")));
  }

  @Test
  void noMoreAddressesAreRememberedThanThereIsRoomFor() throws Exception {
    var rates = new SourceRateLimiter(clock, 1, Duration.ofSeconds(1));
    var busy = InetAddress.getByName("10.0.0.1");
    rates.tryAdmit(busy);

    for (int i = 0; i < 20_000; i++) {
      rates.tryAdmit(InetAddress.getByAddress(new byte[] {11, (byte) (i >> 16), (byte) (i >> 8), (byte) i}));
      if (i % 1_000 == 0) assertFalse(rates.tryAdmit(busy), "it was forgotten although it was not silent");
    }

    assertEquals(SourceRateLimiter.MAX_SENDERS, rates.size());
  }

  // ---- sending

  @Promise("26.3")
  @Test
  void replyIsNoLongerThanItsRequest() throws Exception {
    var server = server(o -> o);
    peer.send(server.port(), "1234");
    Patience.eventually(() -> seen.size() == 1);

    server.reply(seen.getFirst(), "4321".getBytes());
    var refused = assertThrows(IllegalArgumentException.class, () -> server.reply(seen.getFirst(), new byte[5]));

    assertEquals("4321", peer.receive());
    assertTrue(refused.getMessage().contains("a reply of 5 bytes to 4 bytes from " + peer.address() + " may have 4"),
        refused.getMessage());
  }

  @Test
  void aReplyMayBeLongerWhereTheOptionsSaySo() throws Exception {
    var server = server(o -> o.withMaxReply(3));
    peer.send(server.port(), "12");
    Patience.eventually(() -> seen.size() == 1);

    server.reply(seen.getFirst(), "123456".getBytes());

    assertEquals("123456", peer.receive());
    assertThrows(IllegalArgumentException.class, () -> server.reply(seen.getFirst(), new byte[7]));
  }

  @Test
  void packetComesFromPortOfServer() throws Exception {
    var server = server(o -> o);

    server.send(peer.address(), "unasked".getBytes());
    var packet = new java.net.DatagramPacket(new byte[10], 10);
    peer.socket.receive(packet);

    assertEquals(server.port(), packet.getPort());
  }

  @Test
  void aSenderThatWasInterruptedHarmsNobody() throws Exception {
    var server = server(o -> o);

    var sender = Thread.ofVirtual().start(() -> {
      Thread.currentThread().interrupt();
      try {
        server.send(peer.address(), "sent".getBytes());
      } catch (java.io.IOException failure) {
        throw new UncheckedIOException(failure);
      }
    });
    Patience.joined(sender);

    assertEquals("sent", peer.receive());
    peer.send(server.port(), "still there");
    Patience.eventually(() -> seen.size() == 1);
  }
}
