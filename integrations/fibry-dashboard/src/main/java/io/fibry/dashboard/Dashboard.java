package io.fibry.dashboard;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
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
 * A page in the browser that shows a running scope, live; {@code /figures} returns the same data as
 * JSON. Thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="dashboard"}
 *
 * <p>It only reads. By default it listens on loopback and shows no content of messages. Its actors
 * are in a scope of their own, so the scope on the page neither counts them nor waits for them.
 * Only the root scope shows itself together with them. It looks at the scope once a second while
 * somebody looks at the page, and not at all else.
 *
 * <p>When the scope closes, the page reports it; the dashboard stays open until its own
 * {@link #close}.
 */
public final class Dashboard implements AutoCloseable {
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(2);
  private static final String PAGE = file("page.html");
  private static final String STYLE = file("page.css");
  private static final String SCRIPT = file("page.js");

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
   * @param scope to show
   * @param port 0 for any free port
   * @return the dashboard, listening
   * @throws UncheckedIOException if the port is taken
   */
  public static Dashboard open(ActorScope scope, int port) {
    return open(scope, port, options -> options);
  }

  /**
   * Opens a dashboard.
   *
   * @param scope to show
   * @param port 0 for any free port
   * @param options changes what it shows, and to whom
   * @return the dashboard, listening
   * @throws UncheckedIOException if the port is taken
   * @throws IllegalArgumentException if it is open to other machines, without a password
   */
  public static Dashboard open(ActorScope scope, int port, UnaryOperator<DashboardOptions> options) {
    return open(scope, port, options, Scheduler.system());
  }

  static Dashboard open(ActorScope scope, int port, UnaryOperator<DashboardOptions> options, Scheduler clock) {
    Objects.requireNonNull(scope, "scope");
    var all = Objects.requireNonNull(options.apply(DashboardOptions.DEFAULT),
        "options returned null; return the options it was given, changed or not");
    all.check();
    var ownScope = ActorSystem.openScope("dashboard", o -> o.withMessageContents(false).withDrainLimit(DRAIN_LIMIT)
        .withScheduler(clock));
    try {
      var pulse = SnapshotActor.start(ownScope, scope, all.messageTexts, clock);
      var routes = HttpRoutes.none()
          .text("GET /", exchange -> respond(exchange, "text/html", PAGE))
          .text("GET /page.css", exchange -> respond(exchange, "text/css", STYLE))
          .text("GET /page.js", exchange -> respond(exchange, "text/javascript", SCRIPT))
          .text("GET /figures", exchange -> respond(exchange, "application/json",
              pulse.ask(new SnapshotActor.SnapshotRequest(exchange.queryParameter("filter").orElse("")))))
          .stream("GET /events", exchange -> {
            var viewer = exchange.eventActor();
            pulse.sendMessage(new SnapshotActor.ViewerJoined(viewer));
            viewer.waitForExit();
          })
          .intercept(new AccessFilter(all));
      return new Dashboard(ownScope, HttpServer.open(ownScope.named("server"), port, routes, all::of), all);
    } catch (Throwable failure) {
      ownScope.close();
      throw failure;
    }
  }

  private static String respond(HttpExchange exchange, String type, String text) {
    exchange.header("Content-Type", type + "; charset=utf-8");
    return text;
  }

  private static String host(InetAddress address) {
    if (address.isAnyLocalAddress() || address.isLoopbackAddress()) return "localhost";
    var text = address.getHostAddress();
    return text.contains(":") ? "[" + text.replaceFirst("%.*", "") + "]" : text;
  }

  private static String file(String name) {
    try (var in = Objects.requireNonNull(Dashboard.class.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** {@return the address of the page, for a browser on this machine} */
  public URI uri() {
    return uri;
  }

  /** {@return the port it listens on, also if 0 was given} */
  public int port() {
    return server.port();
  }

  /** Says good-bye to those who look, and ends. The scope on the page stays open. */
  @Override
  public void close() {
    ownScope.close();
  }
}
