package io.fibry.net.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.UdpServer;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests UDP servers of a multicast group, if the loopback interface supports multicast. */
class UdpGroupTest {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private final ActorScope scope = ActorSystem.openScope("test");
  private final List<String> received = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void assumeMulticastWorks() throws Exception {
    var loopback = NetworkInterface.getByInetAddress(LOOPBACK);
    try (var socket = new DatagramSocket(null)) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(group(), 0));
      socket.joinGroup(new InetSocketAddress(group(), 0), loopback);
      socket.setSoTimeout((int) Patience.LONG.toMillis());
      try (var sender = new DatagramSocket(new InetSocketAddress(LOOPBACK, 0))) {
        sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, loopback);
        sender.send(new DatagramPacket(new byte[1], 1, new InetSocketAddress(group(), socket.getLocalPort())));
        socket.receive(new DatagramPacket(new byte[1], 1));
      }
    } catch (IOException failure) {
      Assumptions.abort("the loopback interface of this machine supports no multicast: " + failure);
    }
  }

  private static InetAddress group() {
    try {
      return InetAddress.getByName("239.255.42.42");
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private UdpServer member(int port, String name) {
    return UdpServer.open(scope.anonymous(), port, (self, packet) -> {
      received.add(name + ": " + UdpPeer.text(packet));
      self.reply(packet, packet.data());
    }, o -> o.withGroup(group()));
  }

  @AfterEach
  void close() {
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void allMembersReceivePacketThatMemberSendsToGroup() throws Exception {
    var first = member(0, "one");
    var second = member(first.port(), "two");

    second.send(new InetSocketAddress(group(), first.port()), "hello".getBytes());
    Patience.eventually(() -> received.size() == 2);

    assertEquals(List.of("one: hello", "two: hello"), received.stream().sorted().toList());
  }

  @Test
  void groupMembersReplyToSender() throws Exception {
    var first = member(0, "one");

    try (var peer = new UdpPeer()) {
      peer.socket.setOption(StandardSocketOptions.IP_MULTICAST_IF, NetworkInterface.getByInetAddress(LOOPBACK));
      peer.send(new InetSocketAddress(group(), first.port()), "hello".getBytes());

      assertEquals("hello", peer.receive());
    }
  }

  @Test
  void packetSentToMachineInsteadOfGroupIsNotReceived() throws Exception {
    var first = member(0, "one");

    try (var peer = new UdpPeer()) {
      peer.send(first.port(), "to the machine");
    }
    first.send(new InetSocketAddress(group(), first.port()), "to the group".getBytes());
    Patience.eventually(() -> !received.isEmpty());

    assertEquals("one: to the group", received.getFirst());
  }

  @Test
  void closedMemberReceivesNothing() throws Exception {
    var first = member(0, "one");
    var second = member(first.port(), "two");

    second.close();
    first.send(new InetSocketAddress(group(), first.port()), "hello".getBytes());
    Patience.eventually(() -> !received.isEmpty());

    assertEquals(List.of("one: hello"), received);
  }

  @Test
  void groupPacketsAreSentWithTimeToLiveOfOne() throws Exception {
    try (var sockets = UdpSockets.open(InetAddress.getLoopbackAddress(), Optional.of(group()), 0)) {
      assertEquals(1, sockets.out().getOption(StandardSocketOptions.IP_MULTICAST_TTL));
      assertEquals(NetworkInterface.getByInetAddress(LOOPBACK),
          sockets.out().getOption(StandardSocketOptions.IP_MULTICAST_IF));
      sockets.in().setSoTimeout(1);
      assertThrows(SocketTimeoutException.class, () -> sockets.in().receive(new DatagramPacket(new byte[1], 1)));
    }
  }
}
