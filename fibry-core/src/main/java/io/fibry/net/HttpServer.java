package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.net.http.HttpListener;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A running HTTP/1.1 server. Each connection has an actor, which handles the exchanges of the
 * connection one after the other. With {@code Strategy.CALLER} there is one connection at a time.
 * Thread-safe.
 *
 * <p>If a handler throws a {@code MailboxFullException}, {@code ActorStoppedException} or
 * {@code CircuitOpenException}, the response is 503. After an {@code AskTimeoutException}, or if a
 * stored request is not answered in time, the response is 504. After any other exception the
 * response is 500, with a number that is also in the log. The failure policy of the builder is not
 * applied.
 *
 * <p>{@code sendPoisonPill}, {@code close} and {@code askExit} close idle connections and let
 * exchanges finish within the drain limit; {@code kill} cuts all connections off. A scope that
 * closes ends its servers first.
 *
 * <p>HTTP/2, compression and multipart are not supported: use a proxy, or another server.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="server"}
 */
public interface HttpServer extends Exitable {

  /**
   * Opens a server.
   *
   * @param builder makes the actors
   * @param port 0 for any free port
   * @param routes the routes of the server
   * @param options changes the limits
   * @return the listening server
   * @throws java.io.UncheckedIOException if the server cannot listen on this port
   */
  static HttpServer open(ActorBuilder<?> builder, int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    Objects.requireNonNull(builder, "builder");
    Objects.requireNonNull(routes, "routes");
    return HttpListener.open(builder, port, routes.table, HttpOptions.settings(options));
  }

  /** {@return the port on which the server listens; if 0 was given, the port that was chosen} */
  int port();

  /**
   * Counts the exchanges of a route by their outcome. An exchange that becomes a WebSocket counts
   * as over when the WebSocket begins, with the status 101. An exchange with an event stream is
   * over when its client has disconnected.
   *
   * @param route the route as it was given, below the path at which it is mounted; empty for
   * malformed requests and requests without a route
   * @param answered exchanges that are over, with any status
   * @param failed exchanges that are over, with a status of 500 or above
   * @param totalTime sum of the times from the first byte of a request until its response was
   * written
   * @param openWebSockets WebSockets that are open now
   */
  record RouteStats(String route, long answered, long failed, Duration totalTime, long openWebSockets) {}

  /** {@return the counts of each route since the server was opened} */
  List<RouteStats> stats();

  @Override
  HttpServer closeOnExit(AutoCloseable... resources);
}
