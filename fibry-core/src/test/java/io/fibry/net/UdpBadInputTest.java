package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests the arguments that a UDP server refuses. */
class UdpBadInputTest {
  private static final InetSocketAddress RECEIVER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9);

  private final ActorScope scope = ActorSystem.openScope("test");
  private final UdpServer.Options options = new UdpServer.Options();

  @AfterEach
  void close() {
    scope.closeWithin(Patience.LONG);
  }

  private UdpServer open(int port, java.util.function.UnaryOperator<UdpServer.Options> options) {
    return UdpServer.open(scope.anonymous(), port, (self, packet) -> {}, options);
  }

  private static void assertRefused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getByName(literal);
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void invalidRatesAndPacketLimitsAreRefused() {
    assertRefused("a rate of 0 packets in 1 s would let none through; give at least 1",
        () -> options.withRate(0, Duration.ofSeconds(1)));
    assertRefused("a rate of 5 packets in 0 s is undefined; give a period of more than zero",
        () -> options.withRate(5, Duration.ZERO));
    assertRefused("a packet cannot be limited to 0 bytes; give 1 to 65507", () -> options.withMaxPacket(0));
    assertRefused("a packet cannot be limited to 65508 bytes; give 1 to 65507", () -> options.withMaxPacket(65_508));
    assertRefused("a reply cannot be limited to 0 times the length of its packet; give at least 1",
        () -> options.withMaxReply(0));
  }

  @Test
  void invalidGroupAddressesAreRefused() {
    assertRefused(
        "127.0.0.1 is not a multicast address; give an IPv4 address from 224.0.0.0 to 239.255.255.255, or an IPv6 "
            + "address that begins with ff",
        () -> options.withGroup(address("127.0.0.1")));
    assertRefused(
        "the group ff02:0:0:0:0:0:0:1 and the address 127.0.0.1 are of different versions; give withAddress(..) "
            + "one of the group's version",
        () -> open(0, o -> o.withGroup(address("ff02::1")).withAddress(address("127.0.0.1"))));
  }

  @Test
  void portOutsideValidRangeIsRefused() {
    assertRefused("there is no port -1; give 1 to 65535, or 0 for any free port", () -> open(-1, o -> o));
    assertRefused("there is no port 65536; give 1 to 65535, or 0 for any free port",
        () -> open(65_536, o -> o));
  }

  @Test
  void usedPortIsRefusedImmediately() {
    var first = open(0, o -> o);

    var failure = assertThrows(UncheckedIOException.class, () -> open(first.port(), o -> o));

    assertTrue(failure.getMessage().startsWith("no UDP server can listen on port " + first.port() + " of "),
        failure.getMessage());
    assertTrue(failure.getMessage().endsWith("give an address of this machine and a free port, or 0"),
        failure.getMessage());
  }

  @Test
  void addressOfAnotherMachineIsRefusedImmediately() {
    var failure = assertThrows(UncheckedIOException.class, () -> open(0, o -> o.withAddress(address("192.0.2.1"))));

    assertTrue(failure.getMessage().startsWith("no UDP server can listen on port 0 of 192.0.2.1: "),
        failure.getMessage());
  }

  @Test
  void failedOpenWithUsedNameLeavesNoSocket() {
    scope.named("udp").newActor((Object m) -> {});
    assertNameRefused(); // the first attempt opens descriptors that stay open
    long descriptorsBefore = Descriptors.countOpen();

    for (int i = 0; i < 10; i++) assertNameRefused();

    Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
  }

  private void assertNameRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> UdpServer.open(scope.named("udp"), 0, (self, packet) -> {}, o -> o));
  }

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> UdpServer.open(null, 0, (self, packet) -> {}, o -> o))
            .getMessage());
    assertEquals("handler",
        assertThrows(NullPointerException.class, () -> UdpServer.open(scope.anonymous(), 0, null, o -> o))
            .getMessage());
    assertEquals("options", assertThrows(NullPointerException.class, () -> open(0, null)).getMessage());
    assertEquals("the function `options` returned null; it must return the options that it gets, changed or not",
        assertThrows(NullPointerException.class, () -> open(0, o -> null)).getMessage());
    assertEquals("data",
        assertThrows(NullPointerException.class, () -> open(0, o -> o).send(RECEIVER, null)).getMessage());
    assertEquals("data",
        assertThrows(NullPointerException.class, () -> new UdpPacket(RECEIVER, null, false)).getMessage());
  }

  @Test
  void unsendablePacketIsRefused() {
    var server = open(0, o -> o);

    assertRefused("a packet of 65508 bytes is too long for a datagram; send at most 65507",
        () -> server.send(RECEIVER, new byte[65_508]));
    assertRefused("nothing can be sent to nowhere.invalid/<unresolved>:9, a name that has no address",
        () -> server.send(InetSocketAddress.createUnresolved("nowhere.invalid", 9), new byte[1]));
  }

  @Test
  void endedServerRefusesToSendPackets() {
    var server = open(0, o -> o);
    server.close();

    var failure = assertThrows(SocketException.class, () -> server.send(RECEIVER, new byte[1]));

    assertEquals(server + " has ended and sends nothing more", failure.getMessage());
  }
}
