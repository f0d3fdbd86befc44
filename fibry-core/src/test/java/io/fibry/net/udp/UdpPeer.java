package io.fibry.net.udp;

import io.fibry.net.UdpPacket;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A UDP client for tests, which sends and receives datagrams. */
final class UdpPeer implements AutoCloseable {
  final DatagramSocket socket;

  UdpPeer() {
    try {
      socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      socket.setSoTimeout((int) Patience.LONG.toMillis());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  void send(int port, byte[] data) {
    send(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), data);
  }

  void send(int port, String text) {
    send(port, text.getBytes(StandardCharsets.UTF_8));
  }

  void send(InetSocketAddress receiver, byte[] data) {
    try {
      socket.send(new DatagramPacket(data, data.length, receiver));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  String receive() {
    return text(receiveBytes());
  }

  byte[] receiveBytes() {
    try {
      var packet = new DatagramPacket(new byte[65_536], 65_536);
      socket.receive(packet);
      return Arrays.copyOf(packet.getData(), packet.getLength());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  InetSocketAddress address() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  static String text(byte[] data) {
    return new String(data, StandardCharsets.UTF_8);
  }

  static String text(UdpPacket packet) {
    return text(packet.data());
  }

  @Override
  public void close() {
    socket.close();
  }
}
