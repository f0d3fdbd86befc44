package io.fibry.dashboard;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpExchange;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A page in the browser that shows a running scope, live. The path {@code /statistics} returns the
 * same data as JSON. {@code /actor?scope=..&name=..} returns an actor with the stack of its
 * handler, and {@code /route?panel=..&route=..} returns the exchanges of a route at work and its
 * last failures. Thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="dashboard"}
 *
 * <p>A dashboard only reads. It listens on loopback and shows no content of messages, by default.
 * Its actors are in a scope of their own, so the scope on the page neither counts them nor waits
 * for them. Only a dashboard of the root scope also shows its own actors. While a browser shows the
 * page, the dashboard takes a snapshot of the scope once a second. Otherwise it takes a small
 * sample every ten seconds or more seldom. So a page that opens during an incident has rates, waits
 * and curves at once.
 *
 * <p>When the scope closes, the page reports it; the dashboard stays open until its own
 * {@link #close}.
 */
public final class Dashboard implements AutoCloseable {
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(2);
  private static final String PAGE = readResource("page.html");
  private static final String STYLE = readResource("page.css");
  private static final String SCRIPT = readResource("page.js");

  private final ActorScope ownScope;
  private final HttpServer server;
  private final URI uri;

  private Dashboard(ActorScope ownScope, HttpServer server, DashboardOptions options) {
    this.ownScope = ownScope;
    this.server = server;
    this.uri = URI.create((options.tls.isPresent() ? "https://" : "http://") + host(options.address) + ":"
        + server.port() + "/");
  }

  /**
   * Opens a dashboard on loopback.
   *
   * @param scope the scope to show
   * @param port the port to listen on; 0 for any free port
   * @return the dashboard, listening
   * @throws UncheckedIOException if the port is taken
   */
  public static Dashboard open(ActorScope scope, int port) {
    return open(scope, port, options -> options);
  }

  /**
   * Opens a dashboard.
   *
   * @param scope the scope to show
   * @param port the port to listen on; 0 for any free port
   * @param options changes the address, the access, and whether message contents are shown
   * @return the dashboard, listening
   * @throws UncheckedIOException if the port is taken
   * @throws IllegalArgumentException if other machines can reach the dashboard, and it has no
   * password, or if a permitted host is malformed
   */
  public static Dashboard open(ActorScope scope, int port, UnaryOperator<DashboardOptions> options) {
    return open(scope, port, options, Scheduler.system());
  }

  static Dashboard open(ActorScope scope, int port, UnaryOperator<DashboardOptions> options, Scheduler clock) {
    Objects.requireNonNull(scope, "scope");
    var chosenOptions = Objects.requireNonNull(options.apply(DashboardOptions.DEFAULT),
        "the function `options` returned null; it must return the options that it gets, changed or not");
    chosenOptions.check();
    var ownScope = ActorSystem.openScope("dashboard", defaults -> defaults.withMessageContents(false)
        .withDrainLimit(DRAIN_LIMIT).withScheduler(clock));
    try {
      var pulse = SnapshotActor.start(ownScope, scope, chosenOptions, clock);
      var routes = HttpRoutes.none()
          .text("GET /", exchange -> respond(exchange, "text/html", PAGE))
          .text("GET /page.css", exchange -> respond(exchange, "text/css", STYLE))
          .text("GET /page.js", exchange -> respond(exchange, "text/javascript", SCRIPT))
          .text("GET /statistics", exchange -> respond(exchange, "application/json",
              pulse.ask(new SnapshotActor.SnapshotRequest(exchange.queryParameter("filter").orElse("")))))
          .text("GET /actor", exchange -> respond(exchange, "application/json",
              pulse.ask(new SnapshotActor.ActorRequest(exchange.queryParameter("scope").orElse(""),
                  exchange.queryParameter("name").orElse("")))))
          .text("GET /route", exchange -> respond(exchange, "application/json",
              pulse.ask(new SnapshotActor.RouteRequest(exchange.queryParameter("panel").orElse(""),
                  exchange.queryParameter("route").orElse("")))))
          .stream("GET /events", exchange -> {
            var viewer = exchange.eventActor();
            pulse.sendMessage(new SnapshotActor.ViewerJoined(viewer));
            viewer.waitForExit();
          })
          .intercept(new AccessFilter(chosenOptions))
          .withErrorBody(Dashboard::errorText);
      return new Dashboard(ownScope,
          HttpServer.open(ownScope.named("server"), port, routes, chosenOptions::serverOptions),
          chosenOptions);
    } catch (Throwable failure) {
      ownScope.close();
      throw failure;
    }
  }

  private static String respond(HttpExchange exchange, String mediaType, String text) {
    exchange.header("Content-Type", mediaType + "; charset=utf-8");
    return text;
  }

  private static ErrorBody.Content errorText(ErrorBody.ErrorResponse error) {
    var advice = error.status() == 421 ? "; call the dashboard by localhost, or give withHost(..)" : "";
    return new ErrorBody.Content("text/plain; charset=utf-8", error.text() + advice + "\n");
  }

  private static String host(InetAddress address) {
    return address.isAnyLocalAddress() || address.isLoopbackAddress() ? "localhost"
        : DashboardOptions.hostText(address);
  }

  private static String readResource(String name) {
    try (var stream = Objects.requireNonNull(Dashboard.class.getResourceAsStream(name), name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** {@return the address of the page, for a browser on this machine} */
  public URI uri() {
    return uri;
  }

  /** {@return the port on which the dashboard listens; if 0 was given, the port that was free} */
  public int port() {
    return server.port();
  }

  /** Closes the connections of all viewers, and stops. The scope on the page stays open. */
  @Override
  public void close() {
    ownScope.close();
  }
}
