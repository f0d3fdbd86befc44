package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.net.UdpPacket;
import io.fibry.net.UdpServer;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * A UDP server that answers packets. A reply is never longer than its packet, so an attacker with a
 * forged address cannot use the server to amplify traffic.
 */
class UdpEcho {
  public static void main(String[] args) throws Exception {
    var loopback = InetAddress.getLoopbackAddress();

    try (var echo = UdpServer.open(ActorSystem.named("echo"), 0, UdpEcho::answer, options -> options.withMaxPacket(10));
        var client = new DatagramSocket(new InetSocketAddress(loopback, 0))) {
      for (var text : new String[] {"hello", "a long greeting", "all!"}) {
        client.send(new DatagramPacket(text.getBytes(), text.length(), new InetSocketAddress(loopback, echo.port())));
        var answer = new DatagramPacket(new byte[100], 100);
        client.receive(answer);
        System.out.println(text + " -> " + new String(answer.getData(), 0, answer.getLength()));
      }
    }
  }

  private static void answer(UdpServer server, UdpPacket packet) throws IOException {
    var text = new String(packet.data());
    try {
      server.reply(packet, (text.equals("all!") ? "all there is, and more" : text).getBytes());
    } catch (IllegalArgumentException tooLong) {
      server.reply(packet, "no".getBytes());
    }
  }
}
