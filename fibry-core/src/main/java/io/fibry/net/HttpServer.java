package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import java.util.function.UnaryOperator;

/**
 * A running HTTP/1.1 server: an actor for each connection, which handles its exchanges one after
 * the other. Thread-safe.
 *
 * <p>A handler's {@code MailboxFullException} is answered 503, as is {@code ActorStoppedException},
 * {@code AskTimeoutException} 504, and anything else it throws, Errors too, 500 with a number that
 * is in the log beside the failure, and nothing else of it: the builder's failure policy is not
 * asked. More exchanges at once than the server may have are answered 503 at once.
 *
 * <p>{@code sendPoisonPill}, {@code close} and {@code askExit} stop accepting, close connections
 * that rest, and let exchanges finish within the drain limit; {@code kill} cuts them. A scope that
 * closes ends it first.
 *
 * <p>On {@code Strategy.CALLER} it serves one connection after the other.
 *
 * <p>It speaks no HTTP/2, TLS, WebSocket, compression or multipart: put a proxy before it, or take
 * another server.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="server"}
 */
public interface HttpServer extends Exitable {

  /**
   * A server at work.
   *
   * @param how what its actors are made by
   * @param port where it listens; 0: where the system finds room
   * @param routes what it does with which path
   * @param options changes its limits
   * @return the server
   * @throws java.io.UncheckedIOException if the port is taken
   */
  static HttpServer open(ActorBuilder<?> how, int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return HttpListener.open(how, port, routes, options);
  }

  /**
   * The port it listens on, also when 0 was asked for.
   *
   * @return the port
   */
  int port();

  @Override
  HttpServer closeOnExit(AutoCloseable... resources);
}
