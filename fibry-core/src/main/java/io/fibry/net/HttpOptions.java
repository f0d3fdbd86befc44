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
 * The limits of an HTTP server, all on unless changed. Time limits are above zero; a client that
 * exceeds one is cut off. Immutable and thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="options"}
 */
public final class HttpOptions implements Cloneable {
  static final HttpOptions DEFAULT = new HttpOptions();

  /** Besides exchanges. */
  static final int IDLE_CONNECTIONS = 10_000;

  // written by `with..` only, before the copy is shared
  InetAddress address = InetAddress.getLoopbackAddress();
  Duration headerLimit = Duration.ofSeconds(10);
  Duration bodyLimit = Duration.ofSeconds(30);
  Duration writeLimit = Duration.ofSeconds(30);
  Duration idleLimit = Duration.ofSeconds(30);
  Duration drainLimit = Duration.ofSeconds(10);
  long maxBody = 1 << 20;
  int maxHeaders = 32 << 10;
  int maxUri = 8 << 10;
  int maxExchanges = 1_024;
  int maxFields = 1_000;
  HostNames hosts = HostNames.ALL;
  Optional<Tls> tls = Optional.empty();
  Optional<Consumer<AccessLogEntry>> accessLog = Optional.empty();

  private HttpOptions() {}

  private HttpOptions with(Consumer<HttpOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * How long the head of a request may take, from its first byte.
   *
   * @param limit 10 seconds unless changed
   * @return a changed copy
   */
  public HttpOptions withHeaderLimit(Duration limit) {
    return with(copy -> copy.headerLimit = ListenerLimits.positive(limit, "a header"));
  }

  /**
   * How long a client may take to send a body once the handler reads it. The time that the handler
   * takes between two reads does not count.
   *
   * @param limit 30 seconds unless changed
   * @return a changed copy
   */
  public HttpOptions withBodyLimit(Duration limit) {
    return with(copy -> copy.bodyLimit = ListenerLimits.positive(limit, "a body"));
  }

  /**
   * How long one write may wait for the client.
   *
   * @param limit 30 seconds unless changed
   * @return a changed copy
   */
  public HttpOptions withWriteLimit(Duration limit) {
    return with(copy -> copy.writeLimit = ListenerLimits.positive(limit, "a write"));
  }

  /**
   * How long a connection may be idle before a request.
   *
   * @param limit 30 seconds unless changed
   * @return a changed copy
   */
  public HttpOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idleLimit = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * How long exchanges may take to finish when the server ends.
   *
   * @param limit 10 seconds unless changed; perhaps zero
   * @return a changed copy
   */
  public HttpOptions withDrainLimit(Duration limit) {
    return with(copy -> copy.drainLimit = ListenerLimits.notNegative(limit, "a drain"));
  }

  /**
   * The longest body; a longer one is answered 413.
   *
   * @param bytes 1 MB unless changed; perhaps zero
   * @return a changed copy
   */
  public HttpOptions withMaxBody(long bytes) {
    if (bytes < 0)
      throw new IllegalArgumentException("a longest body of " + bytes + " bytes of an HTTP server; give zero or more");
    return with(copy -> copy.maxBody = bytes);
  }

  /**
   * The most fields of a form; one with more is answered 413.
   *
   * @param fields 1,000 unless changed; at least 1
   * @return a changed copy
   */
  public HttpOptions withMaxFields(int fields) {
    return with(copy -> copy.maxFields = ListenerLimits.atLeastOne(fields, "a most fields"));
  }

  /**
   * The names by which clients may call this server; a request with another Host header is answered
   * 421. So no page in a browser reaches it by a name that somebody lets mean its address (DNS
   * rebinding). Any name will do unless they are given.
   *
   * @param names without scheme and port, such as {@code shop.example}
   * @return a changed copy
   */
  public HttpOptions withHosts(String... names) {
    return with(copy -> copy.hosts = HostNames.of(Objects.requireNonNull(names, "names")));
  }

  /**
   * The longest headers, all together; longer ones, or over 100, are answered 431.
   *
   * @param bytes 32 kB unless changed; at least 256
   * @return a changed copy
   */
  public HttpOptions withMaxHeaders(int bytes) {
    if (bytes < 256) throw new IllegalArgumentException("headers of at most " + bytes
        + " bytes shut out what ordinary clients send to an HTTP server; give at least 256");
    return with(copy -> copy.maxHeaders = bytes);
  }

  /**
   * The longest path with its query; a longer one is answered 414.
   *
   * @param bytes 8 kB unless changed; at least 16
   * @return a changed copy
   */
  public HttpOptions withMaxUri(int bytes) {
    if (bytes < 16) throw new IllegalArgumentException(
        "a longest path of " + bytes + " bytes leaves an HTTP server little to answer; give at least 16");
    return with(copy -> copy.maxUri = bytes);
  }

  /**
   * Where it listens.
   *
   * @param address loopback unless changed
   * @return a changed copy
   */
  public HttpOptions withAddress(InetAddress address) {
    return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
  }

  /**
   * How many handlers may be at work; a further request is answered 503. A handler that waits for
   * its client to send or read is not at work. It continues when fewer handlers are, and after ten
   * seconds in any case, because handlers at work may wait for it. At most twice as many handlers
   * are at work or wait. A handler whose client listens to events does neither. Besides, 10,000
   * connections may be idle.
   *
   * @param exchanges 1,024 unless changed; at least 1
   * @return a changed copy
   */
  public HttpOptions withMaxExchanges(int exchanges) {
    if (exchanges < 1 || exchanges > 1_000_000) throw new IllegalArgumentException(
        "at most " + exchanges + " exchanges at once of an HTTP server; give 1 to 1,000,000");
    return with(copy -> copy.maxExchanges = exchanges);
  }

  /**
   * Tells of each exchange when it is over, or has become a WebSocket.
   *
   * @param log runs on the actor of the connection, and must be quick
   * @return a changed copy
   */
  public HttpOptions withAccessLog(Consumer<AccessLogEntry> log) {
    return with(copy -> copy.accessLog = Optional.of(Objects.requireNonNull(log, "log")));
  }

  /**
   * Has it speak TLS. Clients that ask what else is spoken (ALPN) are told {@code http/1.1}. They
   * have to agree on a connection within the header limit.
   *
   * @param tls the certificate, and what is asked of clients
   * @return a changed copy
   */
  public HttpOptions withTls(Tls tls) {
    return with(copy -> copy.tls = Optional.of(Objects.requireNonNull(tls, "tls")));
  }

  /**
   * Has it speak TLS, as {@link #withTls(Tls)} with {@link Tls#of(SSLContext)}.
   *
   * @param context has a key manager
   * @return a changed copy
   */
  public HttpOptions withTls(SSLContext context) {
    return withTls(Tls.of(context));
  }

  ListenerLimits limits() {
    var shortest = Collections.min(List.of(idleLimit, writeLimit, headerLimit, bodyLimit));
    return new ListenerLimits(address, maxExchanges + IDLE_CONNECTIONS, headerLimit, idleLimit, ListenerLimits.NONE,
        writeLimit, drainLimit, shortest);
  }
}
