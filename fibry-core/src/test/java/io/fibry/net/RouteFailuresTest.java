package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.ContextPropagator;
import io.fibry.FailurePolicy;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
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

  /** Sends requests. Before each further request, waits until the exchange is over. */
  private void get(String... paths) {
    for (var path : paths) {
      long before = answered();
      call("GET", path);
      Patience.eventually(() -> answered() == before + 1);
    }
  }

  private long answered() {
    return server.stats().stream().mapToLong(RouteStats::answered).sum();
  }

  @Promise("27.45")
  @Test
  void lastFailureHasTimeClassTextPlaceAndNumberInLog() {
    openServer();

    get("/orders/1", "/broken?text=first", "/broken?text=paper+jam", "/missing", "/own");

    assertEquals(1, server.lastFailures().size(), server.lastFailures()::toString);
    var failure = server.lastFailures().getFirst();
    assertEquals(List.of("GET /broken", 500, "java.lang.IllegalStateException", Optional.of("paper jam")),
        List.of(failure.route(), failure.status(), failure.type(), failure.message()));
    assertTrue(failure.time().isAfter(Instant.EPOCH), failure::toString);
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
    assertEquals(Map.of(503, false, 504, true, 500, true),
        failures.stream().collect(Collectors.toMap(RouteFailure::status, failure -> failure.number().isPresent())));
  }

  @Promise("27.45")
  @Test
  void refusalOfFullServerIsKept() throws Exception {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/", exchange -> {
      gate.passUninterruptibly();
      return "x";
    });
    server = HttpServer.open(net.scope.anonymous(), 0, routes, options -> options.withMaxExchanges(1));
    var busy = Patience.callOnFiber(() -> call("GET", "/"));
    Patience.await(gate.entered);

    get("/");

    var refusal = server.lastFailures().getFirst();
    assertEquals("/ 503 Optional.empty Optional[the server was full: at most 1 exchange may be at work, "
        + "and 2 together with those that wait for their clients] []",
        refusal.route() + " " + refusal.status() + " " + refusal.number() + " " + refusal.message() + " "
            + refusal.stack());
    gate.open();
    Patience.value(busy);
  }

  @Promise({"19.13", "27.45"})
  @Test
  void scopeThatHidesContentsHidesTextOfFailure() {
    var hiding = net.scope.openScope("hiding", options -> options.withMessageContents(false));
    server = HttpServer.open(hiding.anonymous(), 0,
        HttpRoutes.none().text("GET /orders/{id}", exchange -> fail("secret")), o -> o);

    try (var logged = new Logged()) {
      get("/orders/umbrella");

      var number = server.lastFailures().getFirst().number().orElseThrow();
      var lines = logged.lines("failure " + number + " of GET /orders/{id} was answered 500");
      assertTrue(lines.size() == 1 && !lines.getFirst().contains("umbrella"), logged::text);
    }
    assertEquals(Optional.empty(), server.lastFailures().getFirst().message());
    assertEquals("java.lang.IllegalStateException", server.lastFailures().getFirst().type());
  }

  @Promise("27.45")
  @Test
  void endedServerForgetsFailures() {
    openServer();
    get("/broken");
    assertEquals(1, server.lastFailures().size());

    server.close();

    Patience.eventually(() -> server.lastFailures().isEmpty());
  }

  /** The step of the exchange ends after the failure, and before the server keeps the failure. */
  @Promise("27.45")
  @Test
  void exchangeThatEndsAfterItsServerKeepsNoFailure() {
    var gate = new Gate();
    var stepEnds = new CountDownLatch(1);
    var slowObserver = new ContextPropagator<Object>() {
      @Override
      public Object capture() {
        return null;
      }

      @Override
      public AutoCloseable restore(Object captured) {
        return () -> {};
      }

      @Override
      public StepObservation beginStep(HandlerStep step) {
        return new StepObservation() {
          @Override
          public void ended(String outcome, Optional<Throwable> failure) {
            stepEnds.countDown();
            gate.passUninterruptibly();
          }

          @Override
          public void close() {}
        };
      }
    };
    var observed = net.scope.openScope("observed", options -> options.withContextPropagator(slowObserver));
    server = HttpServer.open(observed.anonymous(), 0, HttpRoutes.none().text("/", exchange -> fail("late")), o -> o);
    var call = Patience.callOnFiber(() -> call("GET", "/"));
    Patience.await(stepEnds);
    server.kill();
    Patience.value(server.onExit());

    gate.open();
    Patience.eventually(() -> answered() == 1);

    assertEquals(List.of(), server.lastFailures());
    Patience.eventually(call::isDone);
  }

  @Promise("27.45")
  @Test
  void failureOfRuleIsShownWithItsNumber() {
    open(routes -> routes.text("/", exchange -> fail("handler")).onFailure(IllegalStateException.class, failed -> {
      throw new IllegalArgumentException("rule");
    }));

    get("/");

    var failure = server.lastFailures().getFirst();
    assertEquals(Optional.of("rule"), failure.message());
    assertEquals(Patience.nextOf(log).failureNumber(), failure.number());
  }
}
