package io.fibry.net.udp;

import io.fibry.net.UdpServer;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * The values of {@link UdpServer.Options}.
 *
 * @param address the address on which the server listens
 * @param group the multicast group whose packets the server receives
 * @param maxPacket max bytes of a packet; a longer packet is truncated
 * @param maxReply max length of a reply, as a multiple of the length of its packet
 * @param rate how many packets of one sender are accepted
 */
public record UdpSettings(InetAddress address, Optional<InetAddress> group, int maxPacket, int maxReply,
    Optional<PacketRate> rate) {
  public static final int MAX_CONTENT = 65_507; // the largest content of an IPv4 packet

  /** How many packets of one sender are accepted in a period. */
  public record PacketRate(int packets, Duration period) {}
}
