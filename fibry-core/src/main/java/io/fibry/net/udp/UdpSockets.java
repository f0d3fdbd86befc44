package io.fibry.net.udp;

import io.fibry.net.socket.ListenerLimits;
import io.fibry.net.socket.PollerWarmUp;
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
 * The sockets of a UDP server. With a multicast group there are two sockets. The receiving socket
 * is bound to the address of the group, so it gets no other packets, but it cannot send.
 *
 * @param in the socket that receives
 * @param out the socket that sends; the same as {@code in} if there is no group
 */
record UdpSockets(DatagramSocket in, DatagramSocket out) implements AutoCloseable {

  static UdpSockets open(InetAddress address, Optional<InetAddress> group, int port) {
    var bindAddress = new InetSocketAddress(group.orElse(address), ListenerLimits.checkedPort(port));
    PollerWarmUp.run();
    try {
      return bind(address, group.isPresent(), bindAddress);
    } catch (IOException refused) {
      throw new UncheckedIOException("no UDP server can listen on port " + port + " of "
          + bindAddress.getAddress().getHostAddress() + ": " + Lines.message(refused)
          + "; give an address of this machine and a free port, or 0", refused);
    }
  }

  private static UdpSockets bind(InetAddress address, boolean hasGroup, InetSocketAddress bindAddress)
      throws IOException {
    var networkInterface = NetworkInterface.getByInetAddress(address);
    if (hasGroup && networkInterface == null)
      throw new SocketException("no interface has the address " + address.getHostAddress());
    var in = new DatagramSocket(null); // bound later; by default it does not share its port
    var sockets = new UdpSockets(in, in);
    try {
      if (hasGroup) sockets = new UdpSockets(in, new DatagramSocket(new InetSocketAddress(address, 0)));
      if (hasGroup) in.setReuseAddress(true);
      in.bind(bindAddress);
      if (hasGroup) in.joinGroup(new InetSocketAddress(bindAddress.getAddress(), 0), networkInterface);
      // no router forwards packets to the group
      sockets.out.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1);
      if (networkInterface != null) sockets.out.setOption(StandardSocketOptions.IP_MULTICAST_IF, networkInterface);
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
