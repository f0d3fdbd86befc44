package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.net.udp.UdpReceiver;
import io.fibry.net.udp.UdpSettings;
import io.fibry.net.udp.UdpSettings.PacketRate;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Receives datagrams and passes them to an actor. Up to 1,024 packets may wait by default; then the
 * newest packet is dropped. With the builder of a pool, several packets are handled at once. A
 * server that is closed still handles the waiting packets. Thread-safe.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="server"}
 *
 * <p>A datagram may name any sender, so a reply could reach a machine that did not ask. Therefore
 * the server listens on loopback by default, and no {@link #reply} is longer than its packet.
 */
public interface UdpServer extends Exitable {

  /**
   * Opens a server.
   *
   * @param builder makes the actor
   * @param port 0 for any free port
   * @param handler gets the server, with which it can reply, and a packet
   * @param options changes the defaults
   * @return the listening server
   * @throws java.io.UncheckedIOException if the server cannot listen on this port
   */
  static UdpServer open(ActorBuilder<?> builder, int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<Options> options) {
    Objects.requireNonNull(builder, "builder");
    Objects.requireNonNull(handler, "handler");
    return UdpReceiver.open(builder, port, handler, ChangedCopy.optionsOf(new Options(), options).settings());
  }

  /** {@return the port on which the server listens; if 0 was given, the port that was chosen} */
  int port();

  /**
   * Replies to a packet.
   *
   * @param packet the packet
   * @param data at most as long as the packet, unless {@code withMaxReply} allows more
   * @throws IllegalArgumentException if the reply is too long
   * @throws IOException if the reply could not be sent
   */
  void reply(UdpPacket packet, byte[] data) throws IOException;

  /**
   * Sends a packet.
   *
   * @param receiver the address to which the packet is sent
   * @param data at most 65,507 bytes
   * @throws IllegalArgumentException if the packet is too long
   * @throws IOException if the packet could not be sent
   */
  void send(InetSocketAddress receiver, byte[] data) throws IOException;

  /**
   * Counts the packets that exceeded the rate, or were refused by the actor. The log has the first
   * of them, then at most one line a minute with the number of the others, and their end.
   *
   * @return how many packets were dropped
   */
  long dropped();

  @Override
  UdpServer closeOnExit(AutoCloseable... resources);

  /** The options of a UDP server. Immutable and thread-safe. */
  final class Options implements Cloneable {
    // written by `with..` only, before the copy is shared
    private InetAddress address = InetAddress.getLoopbackAddress();
    private Optional<InetAddress> group = Optional.empty();
    private int maxPacket = UdpSettings.MAX_CONTENT;
    private int maxReply = 1;
    private Optional<PacketRate> rate = Optional.empty();

    Options() {}

    private Options with(Consumer<Options> change) {
      return ChangedCopy.of(this::clone, change);
    }

    /**
     * Sets the address on which the server listens.
     *
     * @param address one of this machine's addresses; by default loopback
     * @return a changed copy
     */
    public Options withAddress(InetAddress address) {
      return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
    }

    /**
     * Receives only packets that are sent to this group, on the interface of the server's address.
     * Servers can share a group and port. The server sends from another port than the port on which
     * it receives, and no router forwards its packets to the group.
     *
     * @param group a multicast address
     * @return a changed copy
     */
    public Options withGroup(InetAddress group) {
      if (!Objects.requireNonNull(group, "group").isMulticastAddress())
        throw new IllegalArgumentException(group.getHostAddress()
            + " is not a multicast address; give an IPv4 address from 224.0.0.0 to 239.255.255.255, or an IPv6 "
            + "address that begins with ff");
      return with(copy -> copy.group = Optional.of(group));
    }

    /**
     * Limits the length of a packet; a longer packet is truncated.
     *
     * @param bytes by default 65,507; at least 1
     * @return a changed copy
     */
    public Options withMaxPacket(int bytes) {
      if (bytes < 1 || bytes > UdpSettings.MAX_CONTENT)
        throw new IllegalArgumentException(
            "a packet cannot be limited to " + bytes + " bytes; give 1 to " + UdpSettings.MAX_CONTENT);
      return with(copy -> copy.maxPacket = bytes);
    }

    /**
     * Limits the length of a reply, as a multiple of the length of its packet. A greater limit
     * helps attackers to flood others.
     *
     * @param times by default 1
     * @return a changed copy
     */
    public Options withMaxReply(int times) {
      Arguments.requireAtLeastOne(times, "a reply cannot be limited to " + times + " times the length of its packet");
      return with(copy -> copy.maxReply = times);
    }

    /**
     * Drops the packets that one address sends above a rate. For IPv6, all addresses with the same
     * first 64 bits count as one address. The server remembers the last 4,096 addresses that have
     * sent.
     *
     * @param packets in a period; at least 1
     * @param period above zero
     * @return a changed copy
     */
    public Options withRate(int packets, Duration period) {
      Arguments.requireRate(packets, "packets", period);
      return with(copy -> copy.rate = Optional.of(new PacketRate(packets, period)));
    }

    /** Returns the values of these options. Throws if they contradict each other. */
    UdpSettings settings() {
      group.filter(it -> it instanceof Inet4Address != address instanceof Inet4Address).ifPresent(groupAddress -> {
        throw new IllegalArgumentException("the group " + groupAddress.getHostAddress() + " and the address "
            + address.getHostAddress() + " are of different versions; give withAddress(..) one of the group's version");
      });
      return new UdpSettings(address, group, maxPacket, maxReply, rate);
    }
  }
}
