package io.fibry.net;

import io.fibry.text.Lines;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One finished exchange, for an access log. Immutable. An {@link AccessLogFormat} makes a line of
 * it.
 *
 * <p>A refused request has the values that the server has read before it refused the request. The
 * texts of clients are not escaped.
 *
 * @param startedAt when the first byte of the request arrived
 * @param client the client's address, or the address of a proxy in front of the server
 * @param user the name of the {@link java.security.Principal} that code around the route has
 * attached, by {@code exchange.attribute(Principal.class, principal)}; empty if there is none
 * @param method the method of the request, even if the server does not know it; empty if the
 * request line is malformed
 * @param path the decoded path of the request; empty if the target is malformed or too long
 * @param query the query as the client has sent it, encoded and without its question mark; empty if
 * there is none. It may contain secrets, such as tokens
 * @param protocol the version of the request, such as {@code HTTP/1.1}; empty if the request line
 * is malformed
 * @param route the pattern of the route that handled the request, or empty if no route matched
 * @param status the status of the response, even if the response was not sent completely; 101 if
 * the exchange became a WebSocket
 * @param bytesSent bytes of the response, including its head
 * @param duration from the first byte of the request until the response was written
 * @param referrer the {@code Referer} header: the URL of the page from which the request comes;
 * empty if there is none. Its query may contain secrets, too
 * @param userAgent the {@code User-Agent} header: the client's program; empty if there is none
 * @param failureNumber the number by which the log of the server names the failure of the handler;
 * empty if the handler has not failed
 * @param traceId the id of the trace to which the exchange belongs; empty if no
 * {@link io.fibry.ContextPropagator} of the server has one
 */
public record AccessLogEntry(Instant startedAt, InetSocketAddress client, Optional<String> user, String method,
    String path, Optional<String> query, String protocol, Optional<String> route, int status, long bytesSent,
    Duration duration, Optional<String> referrer, Optional<String> userAgent,
    Optional<String> failureNumber, Optional<String> traceId) {

  /**
   * {@return one line for a log, in which line ends and quotes from the client are escaped} The
   * line has no query, because queries may contain secrets.
   */
  @Override
  public String toString() {
    return clientText() + " \"" + Lines.escaped(method + " " + path.replace("\"", "%22")) + "\" " + status
        + " " + bytesSent + " bytes " + duration.toMillis() + " ms";
  }

  /** Returns the address of the client, without its port. */
  String clientText() {
    return client.getAddress().getHostAddress();
  }
}
