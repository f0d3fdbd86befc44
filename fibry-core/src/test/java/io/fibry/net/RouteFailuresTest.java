package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests the last failures of a server's routes. */
class RouteFailuresTest extends HttpFixture {
  private static String fail(String text) {
    throw new IllegalStateException(text);
  }

  private void openServer() {
    var clerk = net.scope.named("clerk").onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String text) -> fail(text));
    open(routes -> routes.text("GET /orders/{id}", exchange -> "order")
        .text("GET /broken", exchange -> fail(exchange.queryParameter("text").orElse("broken")))
        .text("GET /clerk", exchange -> clerk.ask("no pen"))
        .text("GET /missing", exchange -> {
          throw new HttpException(404, "missing");
        })
        .text("GET /own", exchange -> exchange.status(500).path())
        .text("GET /mixed", exchange -> switch (exchange.queryParameter("status").orElseThrow()) {
          case "503" -> throw new HttpException(503, "busy");
          case "504" -> throw new AskTimeoutException("late", "shop", "hat", Duration.ofSeconds(1), null);
          default -> fail("mixed");
        }));
  }

  /** Sends requests, and waits until their exchanges are over. */
  private void get(String... paths) {
    long before = answered();
    for (var path : paths) call("GET", path);
    Patience.eventually(() -> answered() == before + paths.length);
  }

  private long answered() {
    return server.stats().stream().mapToLong(RouteStats::answered).sum();
  }

  @Promise("27.45")
  @Test
  void lastFailureHasTimeClassTextPlaceAndNumberInLog() {
    openServer();
    var begin = Instant.now();

    get("/orders/1", "/broken?text=first", "/broken?text=paper+jam", "/missing", "/own");

    assertEquals(1, server.lastFailures().size(), server.lastFailures()::toString);
    var failure = server.lastFailures().getFirst();
    assertEquals(List.of("GET /broken", 500, "java.lang.IllegalStateException", Optional.of("paper jam")),
        List.of(failure.route(), failure.status(), failure.type(), failure.message()));
    assertTrue(!failure.time().isBefore(begin) && !failure.time().isAfter(Instant.now()), failure::toString);
    assertEquals("fail", failure.stack().getFirst().getMethodName());
    assertTrue(failure.stack().stream().noneMatch(frame -> frame.getClassName().startsWith("io.fibry.net.http.")),
        failure::toString);
    Patience.nextOf(log);
    Patience.nextOf(log);
    assertEquals(Patience.nextOf(log).failureNumber(), failure.number());
    assertTrue(failure.number().isPresent());
  }

  @Promise("27.45")
  @Test
  void failureOfAskedActorHasLineOfItsHandler() {
    openServer();

    get("/clerk");

    var failure = server.lastFailures().getFirst();
    assertEquals(Optional.of("no pen"), failure.message());
    assertEquals("fail", failure.stack().getFirst().getMethodName());
  }

  @Promise("27.45")
  @Test
  void floodOfRefusalsHidesNoOtherFailure() {
    openServer();

    get("/mixed?status=500", "/mixed?status=504", "/mixed?status=503", "/mixed?status=503");

    var failures = server.lastFailures();
    assertEquals(List.of(503, 504, 500), failures.stream().map(RouteFailure::status).toList());
    assertEquals(List.of(false, true, true), failures.stream().map(failure -> failure.number().isPresent()).toList());
  }

  @Promise("27.45")
  @Test
  void scopeThatHidesContentsHidesTextOfFailure() {
    var hiding = net.scope.openScope("hiding", options -> options.withMessageContents(false));
    server = HttpServer.open(hiding.anonymous(), 0, HttpRoutes.none().text("/", exchange -> fail("secret")), o -> o);

    get("/");

    assertEquals(Optional.empty(), server.lastFailures().getFirst().message());
    assertEquals("java.lang.IllegalStateException", server.lastFailures().getFirst().type());
  }

  @Promise("27.45")
  @Test
  void endedServerForgetsFailures() {
    openServer();
    get("/broken");

    server.close();

    Patience.eventually(() -> server.lastFailures().isEmpty());
  }
}
