package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
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
 * Receives datagrams and hands them to an actor. Thread-safe.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="server"}
 *
 * <p>Unless the builder says otherwise 1,024 packets wait for their handler and the newest is
 * dropped. With a pool for a builder several are handled at once. {@code close} lets those that
 * wait be handled; what comes meanwhile is a dead letter. It can send until it has ended.
 *
 * <p>Whoever sends a datagram can claim any address, so that answers hit somebody else. Therefore
 * it listens on the loopback interface only, unless told otherwise, and no {@link #reply} is longer
 * than what it answers.
 */
public interface UdpServer extends Exitable {

  /**
   * Opens one. It fails at once if the port is taken.
   *
   * @param how makes the actor that handles the packets
   * @param port from 0 to 65535; with 0 the system chooses one
   * @param handler is given the server, to answer, and a packet
   * @param options changes the usual ones
   * @return the server, receiving
   * @throws java.io.UncheckedIOException if the system does not let it listen there
   */
  static UdpServer open(ActorBuilder<?> how, int port, Handler.Stateful<UdpServer, UdpPacket> handler,
      UnaryOperator<Options> options) {
    return UdpReceiver.open(how, port, handler, options);
  }

  /**
   * The port it listens on, also when 0 was asked for.
   *
   * @return the port
   */
  int port();

  /**
   * Answers a packet, with no more bytes than it has, or so many times as many as the options say:
   * or anybody could have the server flood a third one, whose address he claims.
   *
   * @param packet the packet
   * @param data the answer
   * @throws IllegalArgumentException if the answer is too long
   * @throws IOException if it could not be sent, or the server has ended
   */
  void reply(UdpPacket packet, byte[] data) throws IOException;

  /**
   * Sends a packet, of whatever length the network takes.
   *
   * @param to where to
   * @param data at most 65,507 bytes
   * @throws IllegalArgumentException if it is too long
   * @throws IOException if it could not be sent, or the server has ended
   */
  void send(InetSocketAddress to, byte[] data) throws IOException;

  /**
   * How many packets it received and did not hand over: those over the rate, which are not looked
   * at any further, and those that its actor did not take, which are dead letters.
   *
   * @return so far
   */
  long dropped();

  @Override
  UdpServer closeOnExit(AutoCloseable... resources);

  /** How a server listens, and its limits. Immutable and thread-safe. */
  final class Options implements Cloneable {
    static final int LONGEST = 65_507; // what is left of an IPv4 packet

    /** So many packets in so long. */
    record Rate(int packets, Duration period) {}

    // written by `with..` alone, before anybody else has the copy
    InetAddress address = InetAddress.getLoopbackAddress();
    Optional<InetAddress> group = Optional.empty();
    int maxPacket = LONGEST;
    int maxReply = 1;
    Optional<Rate> rate = Optional.empty();

    Options() {}

    private Options with(Consumer<Options> change) {
      try {
        var copy = (Options) clone();
        change.accept(copy);
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * Where it listens.
     *
     * @param address one of this machine's; loopback unless changed
     * @return a changed copy
     */
    public Options withAddress(InetAddress address) {
      Objects.requireNonNull(address, "address");
      return with(copy -> copy.address = address);
    }

    /**
     * Listens to what is sent to this group, and to nothing else, on the interface of the server's
     * address; what the server itself sends to a group leaves it there, and passes no router. It
     * sends from another port than it listens on, and several servers can listen to one group and
     * port.
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
     * The longest packet; a longer one is handed over truncated.
     *
     * @param bytes from 1 to 65,507; the latter unless changed
     * @return a changed copy
     */
    public Options withMaxPacket(int bytes) {
      if (bytes < 1 || bytes > LONGEST)
        throw new IllegalArgumentException("packets of at most " + bytes + " bytes; give from 1 to " + LONGEST);
      return with(copy -> copy.maxPacket = bytes);
    }

    /**
     * How many times as long as its packet a reply may be.
     *
     * @param times at least 1, and 1 unless changed: more makes the server a lever for those who
     * claim the addresses of others
     * @return a changed copy
     */
    public Options withMaxReply(int times) {
      if (times < 1)
        throw new IllegalArgumentException("replies of " + times + " times the length of a packet; give at least 1");
      return with(copy -> copy.maxReply = times);
    }

    /**
     * Takes at most so many packets in so long from one address (of version 6, from one network of
     * 64 bits), and drops the others unseen. It remembers 4,096 addresses; of more, the one that
     * was silent for longest is forgotten.
     *
     * @param packets at least 1
     * @param period more than zero
     * @return a changed copy
     */
    public Options withRate(int packets, Duration period) {
      Objects.requireNonNull(period, "period");
      if (packets < 1) throw new IllegalArgumentException(
          "a rate of " + packets + " packets in " + period + " would let none through; give at least 1");
      if (!period.isPositive()) throw new IllegalArgumentException(
          "a rate of " + packets + " packets in " + period + " is none; give a period of more than zero");
      return with(copy -> copy.rate = Optional.of(new Rate(packets, period)));
    }

    /** Those that cannot go together are refused when the server opens. */
    Options checked() {
      group.filter(all -> all instanceof Inet4Address != address instanceof Inet4Address).ifPresent(all -> {
        throw new IllegalArgumentException("the group " + all.getHostAddress() + " and the address "
            + address.getHostAddress() + " are of different versions; give withAddress(..) one of the group's version");
      });
      return this;
    }
  }
}
