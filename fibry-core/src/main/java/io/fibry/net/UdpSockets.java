package io.fibry.net;

import io.fibry.text.Lines;
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
 * The socket of a UDP server. A group needs two sockets: the receiving socket has the address of
 * the group, which keeps other packets out, but cannot send.
 *
 * @param in receives
 * @param out sends; the same one without a group
 */
record UdpSockets(DatagramSocket in, DatagramSocket out) implements AutoCloseable {

  static UdpSockets open(InetAddress address, Optional<InetAddress> group, int port) {
    var at = new InetSocketAddress(group.orElse(address), ListenerLimits.port(port));
    PollerWarmUp.run();
    try {
      return bound(address, group.isPresent(), at);
    } catch (IOException refused) {
      throw new UncheckedIOException("no UDP server can listen on port " + port + " of "
          + at.getAddress().getHostAddress() + ": " + Lines.message(refused)
          + "; give an address of this machine and a free port, or 0", refused);
    }
  }

  private static UdpSockets bound(InetAddress address, boolean group, InetSocketAddress at) throws IOException {
    var on = NetworkInterface.getByInetAddress(address);
    if (group && on == null) throw new SocketException("no interface has the address " + address.getHostAddress());
    var in = new DatagramSocket(null); // does not share its port
    var sockets = new UdpSockets(in, group ? new DatagramSocket(new InetSocketAddress(address, 0)) : in);
    try {
      if (group) in.setReuseAddress(true);
      in.bind(at);
      if (group) in.joinGroup(new InetSocketAddress(at.getAddress(), 0), on);
      // packets to a group pass no router
      sockets.out.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1);
      if (on != null) sockets.out.setOption(StandardSocketOptions.IP_MULTICAST_IF, on);
      return sockets;
    } catch (IOException | RuntimeException refused) {
      sockets.close();
      throw refused;
    }
  }

  @Override
  public void close() {
    in.close();
    out.close();
  }
}
