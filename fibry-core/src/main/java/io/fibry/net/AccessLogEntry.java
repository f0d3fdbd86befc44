package io.fibry.net;

import io.fibry.text.Lines;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One finished exchange, for an access log. Immutable.
 *
 * @param startedAt when the first byte of the request arrived
 * @param client the client's address, or the address of a proxy in front of the server
 * @param method the method of the request, or empty if the request was malformed
 * @param path the decoded path of the request, or empty if the request was malformed
 * @param route the pattern of the route that handled the request, or empty if no route matched
 * @param status the status of the response, even if the response was not sent completely; 101 if
 * the exchange became a WebSocket
 * @param bytesSent bytes of the response, including its head
 * @param duration from the first byte of the request until the response was written
 */
public record AccessLogEntry(Instant startedAt, InetSocketAddress client, String method, String path,
    Optional<String> route,
    int status, long bytesSent, Duration duration) {

  /** {@return one line for a log, in which line ends and quotes from the client are escaped} */
  @Override
  public String toString() {
    return client.getAddress().getHostAddress() + " \"" + Lines.escaped(method + " " + path.replace("\"", "%22"))
        + "\" " + status
        + " " + bytesSent + " bytes " + duration.toMillis() + " ms";
  }
}
