package io.fibry.net;

import io.fibry.Handler;
import io.fibry.block.ChangedCopy;
import io.fibry.net.http.HostNames;
import io.fibry.net.http.HttpSettings;
import io.fibry.net.http.TrustedProxies;
import io.fibry.net.socket.ListenerLimits;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;

/**
 * The options of an HTTP server. All limits apply by default. A client that exceeds a time limit is
 * cut off. Immutable and thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="options"}
 */
public final class HttpOptions implements Cloneable {
  static final HttpOptions DEFAULT = new HttpOptions();

  /** How many connections may be open, in addition to {@code maxExchanges}. */
  private static final int EXTRA_CONNECTIONS = 10_000;

  // written by `with..` only, before the copy is shared
  private InetAddress address = InetAddress.getLoopbackAddress();
  private ServerSocketFactory sockets = ServerSocketFactory.getDefault();
  private Optional<Path> unixSocket = Optional.empty();
  private Duration headerLimit = Duration.ofSeconds(10);
  private Duration bodyLimit = Duration.ofSeconds(30);
  private Duration writeLimit = Duration.ofSeconds(30);
  private Duration idleLimit = Duration.ofSeconds(30);
  private Duration drainLimit = Duration.ofSeconds(10);
  private long maxBody = 1 << 20;
  private int maxHeaders = 32 << 10;
  private int maxUri = 8 << 10;
  private int maxExchanges = 1_024;
  private int maxFields = 1_000;
  private HostNames hosts = HostNames.ALL;
  private TrustedProxies proxies = TrustedProxies.NONE;
  private Optional<ServerTls> tls = Optional.empty();
  private Optional<Consumer<AccessLogEntry>> accessLog = Optional.empty();
  private Optional<Handler.Returning<RequestStart, Map<String, String>>> responseHeaders = Optional.empty();

  private HttpOptions() {}

  private HttpOptions with(Consumer<HttpOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * Limits how long the head of a request may take, from its first byte.
   *
   * @param limit by default 10 seconds
   * @return a changed copy
   */
  public HttpOptions withHeaderLimit(Duration limit) {
    return with(copy -> copy.headerLimit = ListenerLimits.positive(limit, "a header"));
  }

  /**
   * Limits how long a client may take to send a body once the handler reads it. The time that the
   * handler takes between two reads does not count.
   *
   * @param limit by default 30 seconds
   * @return a changed copy
   */
  public HttpOptions withBodyLimit(Duration limit) {
    return with(copy -> copy.bodyLimit = ListenerLimits.positive(limit, "a body"));
  }

  /**
   * Limits how long one write may wait for the client.
   *
   * @param limit by default 30 seconds
   * @return a changed copy
   */
  public HttpOptions withWriteLimit(Duration limit) {
    return with(copy -> copy.writeLimit = ListenerLimits.positive(limit, "a write"));
  }

  /**
   * Limits how long a connection may be idle before the first byte of a request.
   *
   * @param limit by default 30 seconds
   * @return a changed copy
   */
  public HttpOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idleLimit = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * Limits how long exchanges may take to finish when the server ends.
   *
   * @param limit by default 10 seconds; may be zero
   * @return a changed copy
   */
  public HttpOptions withDrainLimit(Duration limit) {
    return with(copy -> copy.drainLimit = ListenerLimits.notNegative(limit, "a drain"));
  }

  /**
   * Limits the length of a body. A longer body is refused with 413.
   *
   * @param bytes by default 1 MiB; may be zero
   * @return a changed copy
   */
  public HttpOptions withMaxBody(long bytes) {
    if (bytes < 0)
      throw new IllegalArgumentException(bytes + " bytes cannot be the max body of an HTTP server; give zero or more");
    return with(copy -> copy.maxBody = bytes);
  }

  /**
   * Limits the fields of a form. A form with more fields is refused with 413.
   *
   * @param fields by default 1,000; at least 1
   * @return a changed copy
   */
  public HttpOptions withMaxFields(int fields) {
    return with(copy -> copy.maxFields = ListenerLimits.atLeastOne(fields, "max fields"));
  }

  /**
   * Sets the names by which clients may call this server. A request with another Host header, or of
   * HTTP/1.0 without this header, is refused with 421. So the owner of a foreign page cannot reach
   * this server through a browser by pointing the page's host name at this server's address (DNS
   * rebinding). Every name is allowed by default.
   *
   * <p>An IP address is refused, too, unless it is one of the names, because a handler may put the
   * Host header into a link. {@linkplain HttpRoutes#probe Probe routes} are served with any Host
   * header, because orchestrators and load balancers call them by IP address. Code around a probe
   * sees this header, too, so let no interceptor put it into a link. The log has the host of a
   * refused request, at most once a minute.
   *
   * @param names without scheme and port, such as {@code shop.example} or {@code 10.0.0.3}
   * @return a changed copy
   */
  public HttpOptions withHosts(String... names) {
    return with(copy -> copy.hosts = HostNames.of(Objects.requireNonNull(names, "names")));
  }

  /**
   * Sets the proxies in front of this server. If a request comes from one of them, the headers
   * {@code Forwarded} or {@code X-Forwarded-For} and {@code X-Forwarded-Proto} say which client has
   * sent it, by which scheme. {@link HttpExchange#remoteAddress}, {@link HttpExchange#scheme} and
   * the access log then have the values of this client. The headers of other clients are ignored,
   * because any client can send them.
   *
   * @param networks addresses such as {@code 10.0.0.7}, or networks such as {@code 10.0.0.0/8}; no
   * names of hosts
   * @return a changed copy
   */
  public HttpOptions withProxies(String... networks) {
    return with(copy -> copy.proxies = TrustedProxies.of(Objects.requireNonNull(networks, "networks")));
  }

  /**
   * Limits the bytes of all headers of a request together. Longer headers, or more than 100
   * headers, are refused with 431.
   *
   * @param bytes by default 32 KiB; at least 256
   * @return a changed copy
   */
  public HttpOptions withMaxHeaders(int bytes) {
    if (bytes < 256) throw new IllegalArgumentException("a limit of " + bytes
        + " bytes for all headers would refuse ordinary clients of an HTTP server; give at least 256");
    return with(copy -> copy.maxHeaders = bytes);
  }

  /**
   * Limits the length of the path with its query. A longer path with query is refused with 414.
   *
   * @param bytes by default 8 KiB; at least 16
   * @return a changed copy
   */
  public HttpOptions withMaxUri(int bytes) {
    if (bytes < 16) throw new IllegalArgumentException(
        "a limit of " + bytes + " bytes for a path would refuse most requests to an HTTP server; give at least 16");
    return with(copy -> copy.maxUri = bytes);
  }

  /**
   * Sets the address on which the server listens.
   *
   * @param address by default loopback
   * @return a changed copy
   */
  public HttpOptions withAddress(InetAddress address) {
    return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
  }

  /**
   * Sets the factory of the server socket, for example to serve a network of your own. In a test,
   * open a {@code TestServer} of {@code fibry-test}: it uses a factory whose sockets need no port.
   *
   * @param sockets by default {@link ServerSocketFactory#getDefault}
   * @return a changed copy
   */
  public HttpOptions withServerSockets(ServerSocketFactory sockets) {
    return with(copy -> copy.sockets = Objects.requireNonNull(sockets, "sockets"));
  }

  /**
   * Lets the server listen on a Unix domain socket, which is a file, and on no port. The port that
   * is given at the start must be 0. {@link #withAddress} and {@link #withServerSockets} then have
   * no effect.
   *
   * <p>Each user who may enter the directory of the file can connect, because a proxy often runs as
   * another user. Therefore restrict the directory, for example by {@code chmod 0750} and the group
   * of the proxy, and let no other user create files in it. Only processes of this machine can
   * connect. Each client has the address 127.0.0.1 and port 0. With {@code
   * withProxies("127.0.0.1")}, each client of the file is trusted as a proxy.
   *
   * <p>The file is created at the start, and deleted at the end. A socket that a killed process has
   * left is replaced. If a program listens on the socket, or the file is no socket, the start
   * fails. An empty file with the same name and {@code .lock} stays in the directory; it lets only
   * one of several servers start.
   *
   * @param file the file, in a directory that exists; its path may have about 100 bytes
   * @return a changed copy
   */
  public HttpOptions withUnixSocket(Path file) {
    return with(copy -> copy.unixSocket = Optional.of(Objects.requireNonNull(file, "file")));
  }

  /**
   * Limits how many handlers may be at work; a further request is refused with 503. The first
   * refusal is logged with the load, then at most one line a minute with the number of the others,
   * and their end. A handler that waits for its client to send or read is not at work. After that
   * wait it continues as soon as fewer than {@code exchanges} handlers are at work. It continues
   * after ten seconds in any case, because handlers at work may wait for this handler. At most
   * {@code 2 * exchanges} handlers are at work or wait for their clients. Handlers of event streams
   * and WebSockets do not count. At most {@code exchanges + 10,000} connections are open, whether
   * idle or not.
   *
   * @param exchanges by default 1,024; 1 to 1,000,000
   * @return a changed copy
   */
  public HttpOptions withMaxExchanges(int exchanges) {
    if (exchanges < 1 || exchanges > 1_000_000) throw new IllegalArgumentException(
        "an HTTP server cannot have at most " + exchanges + " exchanges at once; give 1 to 1,000,000");
    return with(copy -> copy.maxExchanges = exchanges);
  }

  /**
   * Makes the server call {@code log} with each exchange that is over or has become a WebSocket. An
   * {@link AccessLogFormat} makes a line of it. Refused requests are included.
   *
   * @param log runs on the actor of the connection, and must be quick
   * @return a changed copy
   */
  public HttpOptions withAccessLog(Consumer<AccessLogEntry> log) {
    return with(copy -> copy.accessLog = Optional.of(Objects.requireNonNull(log, "log")));
  }

  /**
   * A request, as far as the server has read it. The head of a refused request may be incomplete or
   * malformed. Valid until the function that gets the request returns.
   */
  public interface RequestStart {

    /** {@return the method, even if the server does not know it; empty if it was not read} */
    String method();

    /** {@return the path, decoded; empty if it was not read or is malformed} */
    Optional<String> path();

    /**
     * Returns a header of the request. Headers of the same name are joined with commas.
     *
     * @param name in any case
     * @return the value; empty if the request has no such header, or it was not read
     */
    Optional<String> header(String name);
  }

  /**
   * Adds headers, such as those for CORS, to every response. The errors of the server itself have
   * them, too: for a path without a route, a wrong method, a body that is too long, a full server,
   * and a malformed request. A header that a handler, or code around it, sets has precedence. A
   * response has all headers {@code Vary} and {@code Set-Cookie} of both.
   *
   * <p>A browser asks by a preflight request (OPTIONS) before it sends many requests of a page of
   * another origin. If routes take the path, and no route takes OPTIONS, the response is 204 with
   * these headers. A route without a method takes OPTIONS.
   * {@snippet class="io.fibry.HttpSnippetsTest" region="cors"}
   *
   * <p>The function is called once for each request, on the actor of the connection, before a
   * handler begins, also for probe routes. No limit applies to the function, neither the time limit
   * of a route nor {@link #withMaxExchanges}. So it must be quick, and must not wait. A dump and
   * the watchdog show a function that waits. If the function throws, or returns a header that a
   * response cannot have, the failure is logged, and no header is added to the response. A value
   * has one line, so a client whose text becomes a part of a value cannot add a header. Headers
   * that describe the body or the connection, such as {@code Content-Type}, cannot be added. If a
   * client speaks plain HTTP to a server with TLS, its response (400) lacks the headers.
   *
   * @param headers returns the headers by their names; called by several threads at once
   * @return a changed copy
   */
  public HttpOptions withResponseHeaders(Handler.Returning<RequestStart, Map<String, String>> headers) {
    return with(copy -> copy.responseHeaders = Optional.of(Objects.requireNonNull(headers, "headers")));
  }

  /**
   * Makes the server speak TLS. The only protocol that it offers by ALPN is {@code http/1.1}.
   * Clients have to complete the handshake within the header limit.
   *
   * @param tls the certificate of the server, and its requirements for clients
   * @return a changed copy
   */
  public HttpOptions withTls(ServerTls tls) {
    return with(copy -> copy.tls = Optional.of(Objects.requireNonNull(tls, "tls")));
  }

  /**
   * Makes the server speak TLS, as {@link #withTls(ServerTls)} with
   * {@link ServerTls#of(SSLContext)}.
   *
   * @param context has a key manager
   * @return a changed copy
   */
  public HttpOptions withTls(SSLContext context) {
    return withTls(ServerTls.of(context));
  }

  /** Returns the values that the user's function chooses. */
  static HttpSettings settings(UnaryOperator<HttpOptions> options) {
    return ChangedCopy.optionsOf(DEFAULT, options).settings();
  }

  private HttpSettings settings() {
    var shortestLimit = Collections.min(List.of(idleLimit, writeLimit, headerLimit, bodyLimit));
    var limits =
        new ListenerLimits(address, sockets, unixSocket, maxExchanges + EXTRA_CONNECTIONS, headerLimit, idleLimit,
            ListenerLimits.NO_LIMIT, writeLimit, drainLimit, shortestLimit);
    return new HttpSettings(limits, headerLimit, bodyLimit, maxBody, maxHeaders, maxUri, maxExchanges, maxFields, hosts,
        proxies,
        tls.map(it -> it.engines("http/1.1")), accessLog, responseHeaders);
  }
}
