package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
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
 * Receives datagrams and hands them to an actor; 1,024 may wait unless the builder says otherwise,
 * and the newest is dropped. A pool handles several at once. {@code close} lets waiting packets be
 * handled. Thread-safe.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="server"}
 *
 * <p>A datagram may claim any sender, so its reply could hit another machine. Therefore the server
 * listens on loopback unless changed, and no {@link #reply} is longer than its packet.
 */
public interface UdpServer extends Exitable {

  /**
   * Opens a server.
   *
   * @param builder makes the actor
   * @param port 0 for any free port
   * @param handler gets the server, to reply, and a packet
   * @param options changes the defaults
   * @return the server, receiving
   * @throws java.io.UncheckedIOException if it cannot listen there
   */
  static UdpServer open(ActorBuilder<?> builder, int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<Options> options) {
    return UdpReceiver.open(builder, port, handler, options);
  }

  /** {@return the port it listens on, also if 0 was given} */
  int port();

  /**
   * Replies to a packet.
   *
   * @param packet the packet
   * @param data no longer than the packet, or than {@code withMaxReply} allows
   * @throws IllegalArgumentException if it is too long
   * @throws IOException if it could not be sent
   */
  void reply(UdpPacket packet, byte[] data) throws IOException;

  /**
   * Sends a packet.
   *
   * @param to the receiver
   * @param data at most 65,507 bytes
   * @throws IllegalArgumentException if it is too long
   * @throws IOException if it could not be sent
   */
  void send(InetSocketAddress to, byte[] data) throws IOException;

  /** {@return how many packets were dropped, by the rate or by the actor's mailbox} */
  long dropped();

  @Override
  UdpServer closeOnExit(AutoCloseable... resources);

  /** How a server listens. Immutable and thread-safe. */
  final class Options implements Cloneable {
    static final int MAX_CONTENT = 65_507; // the largest content of an IPv4 packet

    /** For one sender. */
    record PacketRate(int packets, Duration period) {}

    // written by `with..` only, before the copy is shared
    InetAddress address = InetAddress.getLoopbackAddress();
    Optional<InetAddress> group = Optional.empty();
    int maxPacket = MAX_CONTENT;
    int maxReply = 1;
    Optional<PacketRate> rate = Optional.empty();

    Options() {}

    private Options with(Consumer<Options> change) {
      return ChangedCopy.of(this::clone, change);
    }

    /**
     * Where it listens.
     *
     * @param address one of this machine's; loopback unless changed
     * @return a changed copy
     */
    public Options withAddress(InetAddress address) {
      return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
    }

    /**
     * Receives only what is sent to this group, on the interface of the server's address. Servers
     * can share a group and port. Packets to the group are sent from another port, and pass no
     * router.
     *
     * @param group a multicast address
     * @return a changed copy
     */
    public Options withGroup(InetAddress group) {
      if (!Objects.requireNonNull(group, "group").isMulticastAddress())
        throw new IllegalArgumentException(group.getHostAddress()
            + " is the address of no group; give one from 224.0.0.0 to 239.255.255.255, or that begins with ff");
      return with(copy -> copy.group = Optional.of(group));
    }

    /**
     * The longest packet; a longer one is truncated.
     *
     * @param bytes 65,507 unless changed; at least 1
     * @return a changed copy
     */
    public Options withMaxPacket(int bytes) {
      if (bytes < 1 || bytes > MAX_CONTENT)
        throw new IllegalArgumentException("packets of at most " + bytes + " bytes; give from 1 to " + MAX_CONTENT);
      return with(copy -> copy.maxPacket = bytes);
    }

    /**
     * How many times as long as its packet a reply may be. More helps attackers to flood others.
     *
     * @param times 1 unless changed
     * @return a changed copy
     */
    public Options withMaxReply(int times) {
      Arguments.requireAtLeastOne(times, "replies of " + times + " times the length of a packet");
      return with(copy -> copy.maxReply = times);
    }

    /**
     * Drops what one address sends above a rate; of IPv6, one network of 64 bits. The latest 4,096
     * addresses are remembered.
     *
     * @param packets in a period; at least 1
     * @param period above zero
     * @return a changed copy
     */
    public Options withRate(int packets, Duration period) {
      Arguments.requireRate(packets, "packets", period);
      return with(copy -> copy.rate = Optional.of(new PacketRate(packets, period)));
    }

    /** Refuses options that do not go together. */
    Options checked() {
      group.filter(all -> all instanceof Inet4Address != address instanceof Inet4Address).ifPresent(all -> {
        throw new IllegalArgumentException("the group " + all.getHostAddress() + " and the address "
            + address.getHostAddress() + " are of different versions; give withAddress(..) one of the group's version");
      });
      return this;
    }
  }
}
