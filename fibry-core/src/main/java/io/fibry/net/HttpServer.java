package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A running HTTP/1.1 server. Each connection has an actor, which handles its exchanges in turn; on
 * {@code Strategy.CALLER} there is one connection at a time. Thread-safe.
 *
 * <p>A handler's {@code MailboxFullException}, {@code ActorStoppedException} or
 * {@code CircuitOpenException} is answered 503, its {@code AskTimeoutException} 504, as is a stored
 * request without an answer. Anything else it throws is a 500 with a number that is in the log. The
 * failure policy is not asked.
 *
 * <p>{@code sendPoisonPill}, {@code close} and {@code askExit} close idle connections and let
 * exchanges finish within the drain limit; {@code kill} cuts them. A scope ends its servers first.
 *
 * <p>There is no HTTP/2, compression or multipart: use a proxy, or another server.
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
   * @return the server, listening
   * @throws java.io.UncheckedIOException if the port is taken
   */
  static HttpServer open(ActorBuilder<?> builder, int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return HttpListener.open(builder, port, routes, options);
  }

  /** {@return the port it listens on, also if 0 was given} */
  int port();

  /**
   * Counts the exchanges of a route by their outcome. One that becomes a WebSocket is answered with
   * 101, and over then; one with an event stream is over when its client has left.
   *
   * @param route the route as it was written, or empty for requests without a route and malformed
   * requests
   * @param answered with any status
   * @param failed of them, with 500 or above
   * @param totalTime from their first bytes until their answers were written, together
   * @param openWebSockets WebSockets now
   */
  record RouteStats(String route, long answered, long failed, Duration totalTime, long openWebSockets) {}

  /** {@return the counts of each route since the server was opened} */
  List<RouteStats> stats();

  @Override
  HttpServer closeOnExit(AutoCloseable... resources);
}
