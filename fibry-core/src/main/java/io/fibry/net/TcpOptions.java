package io.fibry.net;

import io.fibry.block.ChangedCopy;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ListenerLimits;
import io.fibry.net.tcp.TcpSettings;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;

/**
 * The options of a TCP acceptor. For a time limit, {@code ChronoUnit.FOREVER.getDuration()} means
 * no limit. A client that exceeds a time limit is cut off, at most a second later. Immutable and
 * thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="options"}
 */
public final class TcpOptions implements Cloneable {
  private static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);
  private static final TcpOptions DEFAULT = new TcpOptions();

  // written by `with..` only, before the copy is shared
  private InetAddress address = InetAddress.getLoopbackAddress();
  private ServerSocketFactory sockets = ServerSocketFactory.getDefault();
  private Optional<Path> unixSocket = Optional.empty();
  private int maxConnections = 10_000;
  private Duration idleLimit = Duration.ofSeconds(60);
  private Duration totalLimit = ListenerLimits.NO_LIMIT;
  private Duration writeLimit = Duration.ofSeconds(30);
  private Duration drainLimit = Duration.ofSeconds(10);
  private int maxFrame = 1_000_000;
  private int maxUnsent; // bytes; 0 means two messages of maxFrame bytes, but at least 1 MB
  private Optional<ServerTls> tls = Optional.empty();

  private TcpOptions() {}

  private TcpOptions with(Consumer<TcpOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * Sets the address on which the acceptor listens.
   *
   * @param address by default loopback; {@code new InetSocketAddress(0).getAddress()} is every
   * address
   * @return a changed copy
   */
  public TcpOptions withAddress(InetAddress address) {
    return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
  }

  /**
   * Sets the factory of the server socket, for example to serve a network of your own.
   *
   * @param sockets by default {@link ServerSocketFactory#getDefault}
   * @return a changed copy
   */
  public TcpOptions withServerSockets(ServerSocketFactory sockets) {
    return with(copy -> copy.sockets = Objects.requireNonNull(sockets, "sockets"));
  }

  /**
   * Lets the acceptor listen on a Unix domain socket, which is a file, and on no port. The port
   * that is given at the start must be 0. {@link #withAddress} and {@link #withServerSockets} then
   * have no effect.
   *
   * <p>Each user who may enter the directory of the file can connect, because a proxy often runs as
   * another user. Therefore restrict the directory, for example by {@code chmod 0750} and the group
   * of the proxy, and let no other user create files in it. Only processes of this machine can
   * connect. Each client has the address 127.0.0.1 and port 0.
   *
   * <p>The file is created at the start, and deleted at the end. A socket that a killed process has
   * left is replaced. If a program listens on the socket, or the file is no socket, the start
   * fails. An empty file with the same name and {@code .lock} stays in the directory; it lets only
   * one of several servers start.
   *
   * @param file the file, in a directory that exists; its path may have about 100 bytes
   * @return a changed copy
   */
  public TcpOptions withUnixSocket(Path file) {
    return with(copy -> copy.unixSocket = Optional.of(Objects.requireNonNull(file, "file")));
  }

  /**
   * Limits how many connections may be open. Further connections wait in the system's backlog.
   *
   * @param connections by default 10,000; at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxConnections(int connections) {
    return with(copy -> copy.maxConnections = ListenerLimits.atLeastOne(connections, "max connections"));
  }

  /**
   * Limits how long a client may send nothing while its handler reads.
   *
   * @param limit by default a minute
   * @return a changed copy
   */
  public TcpOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idleLimit = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * Limits how long a connection may last.
   *
   * @param limit by default no limit
   * @return a changed copy
   */
  public TcpOptions withTotalLimit(Duration limit) {
    return with(copy -> copy.totalLimit = ListenerLimits.positive(limit, "a total"));
  }

  /**
   * Limits how long a client may take to receive each 64 KiB that are sent to it.
   *
   * @param limit by default 30 seconds
   * @return a changed copy
   */
  public TcpOptions withWriteLimit(Duration limit) {
    return with(copy -> copy.writeLimit = ListenerLimits.positive(limit, "a write"));
  }

  /**
   * Limits how long handlers may take to finish when the acceptor ends.
   *
   * @param limit by default 10 seconds; may be zero
   * @return a changed copy
   */
  public TcpOptions withDrainLimit(Duration limit) {
    return with(copy -> copy.drainLimit = ListenerLimits.notNegative(limit, "a drain"));
  }

  /**
   * Limits the length of a line or frame that is read. Each connection may have one line or frame
   * of this length in memory.
   *
   * @param bytes by default 1 MB; at least 1
   * @return a changed copy
   */
  public TcpOptions withMaxFrame(int bytes) {
    return with(copy -> copy.maxFrame = ListenerLimits.atLeastOne(bytes, "a max frame"));
  }

  /**
   * Limits the unsent bytes of a {@code lineActor} or {@code frameActor}. If they exceed the limit,
   * the client is cut off. Each message counts as its own bytes and 32 bytes more. A message that
   * exceeds the limit alone is a dead letter, and its client is not cut off.
   *
   * @param bytes at least 1; by default enough for two lines or frames of the maximum length, and
   * at least 1 MB
   * @return a changed copy
   */
  public TcpOptions withMaxUnsent(int bytes) {
    return with(copy -> copy.maxUnsent = ListenerLimits.atLeastOne(bytes, "a max unsent"));
  }

  /**
   * Makes the acceptor speak TLS. A client that has not finished its handshake within ten seconds,
   * or within the idle limit if that is shorter, is cut off. A client whose stream ends without a
   * close_notify of TLS is cut off, too, because the stream may have been truncated.
   *
   * @param tls the certificate of the acceptor, and its requirements for clients
   * @return a changed copy
   */
  public TcpOptions withTls(ServerTls tls) {
    return with(copy -> copy.tls = Optional.of(Objects.requireNonNull(tls, "tls")));
  }

  /**
   * Makes the acceptor speak TLS, as {@link #withTls(ServerTls)} with
   * {@link ServerTls#of(SSLContext)}.
   *
   * @param context has a key manager
   * @return a changed copy
   */
  public TcpOptions withTls(SSLContext context) {
    return withTls(ServerTls.of(context));
  }

  /** Returns the values that the user's function chooses. */
  static TcpSettings settings(UnaryOperator<TcpOptions> options) {
    return ChangedCopy.optionsOf(DEFAULT, options).settings();
  }

  private TcpSettings settings() {
    var handshakeLimit = Collections.min(List.of(HANDSHAKE_LIMIT, idleLimit));
    var limits = new ListenerLimits(address, sockets, unixSocket, maxConnections, handshakeLimit, idleLimit, totalLimit,
        writeLimit,
        drainLimit, Collections.min(List.of(handshakeLimit, totalLimit, writeLimit)));
    return new TcpSettings(limits, maxFrame, maxUnsent == 0 ? defaultMaxUnsent() : maxUnsent,
        tls.map(ServerTls::engines));
  }

  /**
   * Returns enough for two messages: a client may already have received a message, and replied to
   * it, when the server still counts this message as unsent.
   */
  private int defaultMaxUnsent() {
    long maxMessage = Integer.BYTES + (long) maxFrame; // a frame begins with its length
    return Math.clamp(2 * maxMessage + ClientOutbox.OVERHEAD, 1_000_000, Integer.MAX_VALUE);
  }
}
