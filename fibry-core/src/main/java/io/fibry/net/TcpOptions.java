package io.fibry.net;

import io.fibry.block.ChangedCopy;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;

/**
 * The limits of a TCP acceptor. Time limits are above zero;
 * {@code ChronoUnit.FOREVER.getDuration()} is none. A client that exceeds one is cut off, up to a
 * second late. Immutable and thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="options"}
 */
public final class TcpOptions implements Cloneable {
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);
  static final TcpOptions DEFAULT = new TcpOptions();

  // written by `with..` only, before the copy is shared
  private InetAddress address = InetAddress.getLoopbackAddress();
  private int connections = 10_000;
  private Duration idle = Duration.ofSeconds(60);
  private Duration total = ListenerLimits.NONE;
  private Duration write = Duration.ofSeconds(30);
  private Duration drain = Duration.ofSeconds(10);
  int frame = 1_000_000;
  int unsent = 1_000_000;
  Optional<Tls> tls = Optional.empty();

  private TcpOptions() {}

  private TcpOptions with(Consumer<TcpOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * Where it listens.
   *
   * @param address loopback unless changed; {@code new InetSocketAddress(0).getAddress()} is every
   * address
   * @return a changed copy
   */
  public TcpOptions withAddress(InetAddress address) {
    return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
  }

  /**
   * How many connections may be open; others wait in the system's backlog.
   *
   * @param connections 10,000 unless changed; at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxConnections(int connections) {
    return with(copy -> copy.connections = ListenerLimits.atLeastOne(connections, "max connections"));
  }

  /**
   * How long a client may send nothing to a handler that reads.
   *
   * @param limit a minute unless changed
   * @return a changed copy
   */
  public TcpOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idle = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * How long a connection may last.
   *
   * @param limit no limit unless changed
   * @return a changed copy
   */
  public TcpOptions withTotalLimit(Duration limit) {
    return with(copy -> copy.total = ListenerLimits.positive(limit, "a total"));
  }

  /**
   * How long a client may take for each 64 kB written to it.
   *
   * @param limit 30 seconds unless changed
   * @return a changed copy
   */
  public TcpOptions withWriteLimit(Duration limit) {
    return with(copy -> copy.write = ListenerLimits.positive(limit, "a write"));
  }

  /**
   * How long handlers may take to finish when the acceptor ends.
   *
   * @param limit 10 seconds unless changed; perhaps zero
   * @return a changed copy
   */
  public TcpOptions withDrainLimit(Duration limit) {
    return with(copy -> copy.drain = ListenerLimits.notNegative(limit, "a drain"));
  }

  /**
   * The longest line or frame that is read. Each connection may hold one.
   *
   * @param bytes 1 MB unless changed; at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxFrame(int bytes) {
    return with(copy -> copy.frame = ListenerLimits.atLeastOne(bytes, "a max frame"));
  }

  /**
   * How much a {@code lineActor} or {@code frameActor} may have unsent, before its client is cut
   * off. Each message counts 32 bytes more.
   *
   * @param bytes 1 MB unless changed; at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxUnsent(int bytes) {
    return with(copy -> copy.unsent = ListenerLimits.atLeastOne(bytes, "a max unsent"));
  }

  /**
   * Has it speak TLS. A client that has not finished its handshake within ten seconds, or within
   * the idle limit if that is shorter, is cut off. So is a client whose stream ends without TLS's
   * own end, because the stream may have been truncated.
   *
   * @param tls the certificate, and what is asked of clients
   * @return a changed copy
   */
  public TcpOptions withTls(Tls tls) {
    return with(copy -> copy.tls = Optional.of(Objects.requireNonNull(tls, "tls")));
  }

  /**
   * Has it speak TLS, as {@link #withTls(Tls)} with {@link Tls#of(SSLContext)}.
   *
   * @param context has a key manager
   * @return a changed copy
   */
  public TcpOptions withTls(SSLContext context) {
    return withTls(Tls.of(context));
  }

  ListenerLimits limits() {
    var handshake = Collections.min(List.of(HANDSHAKE, idle));
    return new ListenerLimits(address, connections, handshake, idle, total, write, drain,
        Collections.min(List.of(handshake, total, write)));
  }
}
