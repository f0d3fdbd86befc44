package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.net.UdpPacket;
import io.fibry.support.Patience;
import io.fibry.testing.RefusingPort;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests the recipes for UDP servers and downloaders. */
class UdpAndDownloadsTest {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  @Test
  void udpServerReceivesPacket() throws Exception {
    var receivedPacket = new CompletableFuture<UdpPacket>();

    try (var server = Stereotypes.fibers().udpServer(0, receivedPacket::complete);
        var client = new DatagramSocket(new InetSocketAddress(LOOPBACK, 0))) {
      client.send(new DatagramPacket("hi".getBytes(), 2, new InetSocketAddress(LOOPBACK, server.port())));

      assertEquals(client.getLocalPort(), Patience.value(receivedPacket).from().getPort());
    }
  }

  @Test
  void udpServerRepliesToPacket() throws Exception {
    try (var server = Stereotypes.threads().udpServer(0, (self, packet) -> self.reply(packet, packet.data()),
        o -> o.withMaxPacket(1)); var client = new DatagramSocket(new InetSocketAddress(LOOPBACK, 0))) {
      client.setSoTimeout((int) Patience.LONG.toMillis());
      client.send(new DatagramPacket("hi".getBytes(), 2, new InetSocketAddress(LOOPBACK, server.port())));
      var answer = new DatagramPacket(new byte[10], 10);
      client.receive(answer);

      assertEquals(1, answer.getLength());
    }
  }

  @Test
  void downloaderFailsIfServerIsUnreachable() {
    try (var port = new RefusingPort(); var downloader = Stereotypes.fibers().downloader(o -> o.withMaxAttempts(1))) {
      assertThrows(ConnectException.class, () -> downloader.ask(port.uri()));
    }
  }

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("handler",
        assertThrows(NullPointerException.class, () -> Stereotypes.fibers().udpServer(0, null)).getMessage());
    assertEquals("options",
        assertThrows(NullPointerException.class, () -> Stereotypes.fibers().downloader(null)).getMessage());
  }
}
