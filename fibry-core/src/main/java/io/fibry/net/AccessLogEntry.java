package io.fibry.net;

import io.fibry.text.Lines;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A finished exchange, for an access log; an exchange that became a WebSocket has the status 101.
 * Immutable.
 *
 * @param startedAt when its first byte came
 * @param client who asked
 * @param method the method of the request, or empty if the request was malformed
 * @param path the decoded path of the request, or empty if the request was malformed
 * @param route the route that answered, or empty if there was none
 * @param status of the answer, also if it broke off
 * @param bytesSent bytes of the answer, with its head
 * @param duration until the answer was written
 */
public record AccessLogEntry(Instant startedAt, InetSocketAddress client, String method, String path,
    Optional<String> route,
    int status, long bytesSent, Duration duration) {

  /** {@return a line for a log, without what a client could forge lines with} */
  @Override
  public String toString() {
    return client.getAddress().getHostAddress() + " \"" + Lines.escaped(method + " " + path.replace("\"", "%22"))
        + "\" " + status
        + " " + bytesSent + " bytes " + duration.toMillis() + " ms";
  }
}
