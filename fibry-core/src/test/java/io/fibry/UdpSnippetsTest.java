package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import io.fibry.support.Patience;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Runs the snippets in the Javadoc of UDP. */
class UdpSnippetsTest {

  @Test
  void udpServerRepliesWithDataOfPacket() throws Exception {
    // @start region="server"
    var echo = UdpServer.open(ActorSystem.named("echo"), 0, (server, packet) -> server.reply(packet, packet.data()),
        o -> o.withMaxPacket(1_000).withRate(100, Duration.ofSeconds(1)));
    // @end

    try (echo; var socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      socket.setSoTimeout((int) Patience.LONG.toMillis());
      socket.send(new DatagramPacket("hello".getBytes(), 5,
          new InetSocketAddress(InetAddress.getLoopbackAddress(), echo.port())));
      var answer = new DatagramPacket(new byte[10], 10);
      socket.receive(answer);
      assertEquals("hello", new String(answer.getData(), 0, answer.getLength()));
    }
  }

  @Test
  void udpPacketHasDataSenderAndTruncationFlag() {
    var packet = new UdpPacket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 9), "hello".getBytes(), false);

    // @start region="packet"
    String text = new String(packet.data(), StandardCharsets.UTF_8);
    int port = packet.from().getPort();
    boolean isComplete = !packet.isTruncated();
    // @end

    assertEquals("hello 9 true", text + " " + port + " " + isComplete);
  }
}
