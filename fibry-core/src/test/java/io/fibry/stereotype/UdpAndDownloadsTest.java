package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.DeafPort;
import io.fibry.net.UdpPacket;
import io.fibry.support.Patience;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The one-liners for UDP and downloads. */
class UdpAndDownloadsTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  @Test
  void aServerForPackets() throws Exception {
    var come = new CompletableFuture<UdpPacket>();

    try (var server = Stereotypes.fibers().udpServer(0, come::complete);
        var client = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
      client.send(new DatagramPacket("hi".getBytes(), 2, new InetSocketAddress(HERE, server.port())));

      assertEquals(client.getLocalPort(), Patience.value(come).from().getPort());
    }
  }

  @Test
  void aServerThatAnswers() throws Exception {
    try (var server = Stereotypes.threads().udpServer(0, (self, packet) -> self.reply(packet, packet.data()),
        o -> o.withMaxPacket(1)); var client = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
      client.setSoTimeout((int) Patience.LONG.toMillis());
      client.send(new DatagramPacket("hi".getBytes(), 2, new InetSocketAddress(HERE, server.port())));
      var answer = new DatagramPacket(new byte[10], 10);
      client.receive(answer);

      assertEquals(1, answer.getLength());
    }
  }

  @Test
  void aDownloader() {
    try (var deaf = new DeafPort(); var downloader = Stereotypes.fibers().downloader(o -> o.withMaxAttempts(1))) {
      assertThrows(ConnectException.class, () -> downloader.ask(deaf.uri()));
    }
  }

  @Test
  void nothingIsNull() {
    assertEquals("handler",
        assertThrows(NullPointerException.class, () -> Stereotypes.fibers().udpServer(0, null)).getMessage());
    assertEquals("options",
        assertThrows(NullPointerException.class, () -> Stereotypes.fibers().downloader(null)).getMessage());
  }
}
