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
 * A UDP server that answers packets. Replies are not longer than packets, so a forged sender
 * amplifies nothing.
 */
class UdpEcho {
  public static void main(String[] args) throws Exception {
    var here = InetAddress.getLoopbackAddress();

    try (var echo = UdpServer.open(ActorSystem.named("echo"), 0, UdpEcho::answer, o -> o.withMaxPacket(10));
        var client = new DatagramSocket(new InetSocketAddress(here, 0))) {
      for (var text : new String[] {"hello", "a long greeting", "all!"}) {
        client.send(new DatagramPacket(text.getBytes(), text.length(), new InetSocketAddress(here, echo.port())));
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
    } catch (IllegalArgumentException longerThanThePacket) {
      server.reply(packet, "no".getBytes());
    }
  }
}
