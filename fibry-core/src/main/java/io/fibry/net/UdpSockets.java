package io.fibry.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.util.Optional;

/**
 * What a UDP server receives by and what it sends by: one socket; for a group two, since the one
 * that receives has the group's address, which keeps all else out, and from which the system lets
 * nobody send.
 *
 * @param in where it listens
 * @param out what it sends by
 */
record UdpSockets(DatagramSocket in, DatagramSocket out) implements AutoCloseable {

  static UdpSockets open(InetAddress address, Optional<InetAddress> group, int port) {
    if (port < 0 || port > 65_535) throw new IllegalArgumentException(
        "there is no UDP port " + port + "; give one from 1 to 65535, or 0 for any that is free");
    PollerWarmUp.up();
    var at = new InetSocketAddress(group.orElse(address), port);
    try {
      return group.isPresent() ? ofGroup(address, at) : alone(at);
    } catch (IOException refused) {
      throw new UncheckedIOException(
          "no UDP server can listen on port " + port + " of " + at.getAddress().getHostAddress() + ": "
              + refused.getMessage() + "; give an address of this machine, and a port that nobody has, or 0",
          refused);
    }
  }

  private static UdpSockets alone(InetSocketAddress at) throws IOException {
    var socket = new DatagramSocket(null); // which lets nobody else have the port
    try {
      socket.bind(at);
      limit(socket, at.getAddress());
      return new UdpSockets(socket, socket);
    } catch (IOException | RuntimeException refused) {
      socket.close();
      throw refused;
    }
  }

  private static UdpSockets ofGroup(InetAddress address, InetSocketAddress at) throws IOException {
    var on = interfaceOf(address);
    var sockets =
        new UdpSockets(new DatagramSocket(null), new DatagramSocket(new InetSocketAddress(address, 0)));
    try {
      sockets.in.setReuseAddress(true);
      sockets.in.bind(at);
      sockets.in.joinGroup(new InetSocketAddress(at.getAddress(), 0), on);
      limit(sockets.out, address);
      return sockets;
    } catch (IOException | RuntimeException refused) {
      sockets.close();
      throw refused;
    }
  }

  /** What is sent to a group stays in the neighbourhood. */
  private static void limit(DatagramSocket socket, InetAddress address) throws IOException {
    socket.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1);
    var on = NetworkInterface.getByInetAddress(address);
    // else the system chooses
    if (on != null) socket.setOption(StandardSocketOptions.IP_MULTICAST_IF, on);
  }

  private static NetworkInterface interfaceOf(InetAddress address) throws IOException {
    var found = NetworkInterface.getByInetAddress(address);
    if (found == null) throw new SocketException("no interface has the address " + address.getHostAddress());
    return found;
  }

  @Override
  public void close() {
    in.close();
    out.close();
  }
}
