package io.fibry.net;

import io.fibry.ActorBuilder;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one HTTP server: HTTP on a listener. Who it is, who is connected and how it ends are the
 * listener's.
 */
final class HttpListener extends Listener implements HttpServer, HttpConversation.Server {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);

  private final HttpRoutes routes;
  private final HttpOptions options;
  private final AtomicInteger exchanges = new AtomicInteger(); // at work

  private HttpListener(ActorBuilder<?> how, int port, HttpRoutes routes, HttpOptions options) {
    super(how, port, limits(options), LOG);
    this.routes = routes;
    this.options = options;
  }

  static HttpServer open(ActorBuilder<?> how, int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    Objects.requireNonNull(how, "how");
    Objects.requireNonNull(routes, "routes");
    var changed = Objects.requireNonNull(options, "options").apply(HttpOptions.DEFAULT);
    var engine = new HttpListener(how, port, routes, Objects.requireNonNull(changed,
        "options answered null; let it answer the options it was given, changed or not"));
    engine.start();
    return engine;
  }

  private static ListenerLimits limits(HttpOptions options) {
    var shortest = ListenerLimits.min(ListenerLimits.min(options.idleLimit, options.writeLimit),
        ListenerLimits.min(options.headerLimit, options.bodyLimit));
    return new ListenerLimits(options.address, options.maxExchanges + HttpOptions.RESTING, options.idleLimit,
        ListenerLimits.NONE,
        options.writeLimit, options.drainLimit, shortest);
  }

  // ---- an exchange

  @Override
  public HttpRoutes routes() {
    return routes;
  }

  @Override
  public HttpOptions options() {
    return options;
  }

  @Override
  public ExchangePermit enter() {
    return ExchangePermit.of(exchanges, options.maxExchanges);
  }

  @Override
  public String log(Throwable failure, Exchange exchange, String answered) {
    var number = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    var path = exchange.path();
    LOG.error("{}: failure {} of {} {} was answered {}", this, number, exchange.method(),
        path.length() > 200 ? path.substring(0, 200) + ".." : path, answered, failure);
    return number;
  }

  // ---- the listener's

  @Override
  Conversation conversation(ClientSocket socket, ActorBuilder<Object> how) {
    return new HttpConversation(this, socket, how);
  }

  /** An exchange may read its body to the end; those that rest have ended already. */
  @Override
  void hurry(ClientSocket socket) {}

  @Override
  public HttpListener closeOnExit(AutoCloseable... resources) {
    super.closeOnExit(resources);
    return this;
  }

  @Override
  public String toString() {
    return "HTTP server " + super.toString();
  }
}
