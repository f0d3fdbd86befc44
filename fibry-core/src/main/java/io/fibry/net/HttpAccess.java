package io.fibry.net;

import io.fibry.text.Lines;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * An exchange that is over, for an access log; one that became a WebSocket, with 101. Immutable.
 *
 * @param begun when its first byte came
 * @param client who asked
 * @param method of the request; empty: it was malformed
 * @param path of the request, decoded; empty: it was malformed
 * @param route that answered; empty: none
 * @param status of the answer, also if it broke off
 * @param sent bytes of the answer, with its head
 * @param took until the answer was written
 */
public record HttpAccess(Instant begun, InetSocketAddress client, String method, String path, Optional<String> route,
    int status, long sent, Duration took) {

  /** {@return a line for a log, without what a client could forge lines with} */
  @Override
  public String toString() {
    return client.getAddress().getHostAddress() + " \"" + Lines.escaped(method + " " + path.replace("\"", "%22"))
        + "\" " + status
        + " " + sent + " bytes " + took.toMillis() + " ms";
  }
}
