package io.fibry.net;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The limits of a TCP acceptor: at most 10,000 connections, idle for a minute, a write of 30
 * seconds, an end that waits for 10 seconds, lines and frames of 1 MB, 1 MB unsent. Immutable and
 * thread-safe. What is over a limit is noticed an eighth of the shortest limit late at most, or a
 * second. {@code ChronoUnit.FOREVER.getDuration()} is no limit.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="options"}
 */
public final class TcpOptions implements Cloneable {
  static final TcpOptions DEFAULT = new TcpOptions();

  // written by `with..` alone, before anybody else has the copy
  private InetAddress address = InetAddress.getLoopbackAddress();
  private int connections = 10_000;
  private Duration idle = Duration.ofSeconds(60);
  private Duration total = ListenerLimits.NONE;
  private Duration write = Duration.ofSeconds(30);
  private Duration drain = Duration.ofSeconds(10);
  int frame = 1_000_000;
  int unsent = 1_000_000;

  private TcpOptions() {}

  private TcpOptions with(Consumer<TcpOptions> change) {
    try {
      var copy = (TcpOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * Where it listens; only programs on the same machine reach it unless told otherwise.
   *
   * @param address the loopback address, unless told; {@code new InetSocketAddress(0).getAddress()}
   * is every address of the machine
   * @return a changed copy
   */
  public TcpOptions withAddress(InetAddress address) {
    Objects.requireNonNull(address, "address");
    return with(copy -> copy.address = address);
  }

  /**
   * How many connections are open at once; more wait in the system's backlog, 1,024 at most.
   *
   * @param connections at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxConnections(int connections) {
    ListenerLimits.atLeastOne(connections, "max connections");
    return with(copy -> copy.connections = connections);
  }

  /**
   * How long a client may send nothing while its handler reads, before it is cut off: the handler's
   * read throws a {@code SocketTimeoutException}.
   *
   * @param limit more than zero
   * @return a changed copy
   */
  public TcpOptions withIdleLimit(Duration limit) {
    ListenerLimits.positive(limit, "an idle");
    return with(copy -> copy.idle = limit);
  }

  /**
   * How long a connection may last, whatever it does.
   *
   * @param limit more than zero; none, unless told
   * @return a changed copy
   */
  public TcpOptions withTotalLimit(Duration limit) {
    ListenerLimits.positive(limit, "a total");
    return with(copy -> copy.total = limit);
  }

  /**
   * How long a client may take for what is written to it, each 64 kB, before it is cut off.
   *
   * @param limit more than zero
   * @return a changed copy
   */
  public TcpOptions withWriteLimit(Duration limit) {
    ListenerLimits.positive(limit, "a write");
    return with(copy -> copy.write = limit);
  }

  /**
   * How long the acceptor's end waits for the conversations that are open, before it cuts them off.
   *
   * @param limit zero or more
   * @return a changed copy
   */
  public TcpOptions withDrainLimit(Duration limit) {
    ListenerLimits.notNegative(limit, "a drain");
    return with(copy -> copy.drain = limit);
  }

  /**
   * The longest line or frame that is read. Each connection may hold so much while it is not
   * complete: with many of them, allow less.
   *
   * @param bytes at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxFrame(int bytes) {
    ListenerLimits.atLeastOne(bytes, "a max frame");
    return with(copy -> copy.frame = bytes);
  }

  /**
   * How much may wait to be written to a client by its {@code lineActor} and by its
   * {@code frameActor}, before it is cut off for being too slow. Each message counts 32 bytes more
   * than it has.
   *
   * @param bytes at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxUnsent(int bytes) {
    ListenerLimits.atLeastOne(bytes, "a max unsent");
    return with(copy -> copy.unsent = bytes);
  }

  ListenerLimits limits() {
    return new ListenerLimits(address, connections, idle, total, write, drain,
        ListenerLimits.min(idle, ListenerLimits.min(total, write)));
  }
}
