package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the time limit of routes, with a clock that the tests advance. */
class HttpTimeLimitTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("limited", o -> o.withScheduler(clock));
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch never = new CountDownLatch(1);
  private HttpServer server;

  @AfterEach
  void close() {
    never.countDown();
    if (server != null) server.kill();
    scope.close();
  }

  private void open(HttpRoutes routes) {
    server = HttpServer.open(scope.anonymous(), 0, routes,
        o -> o.withIdleLimit(Duration.ofHours(1)).withBodyLimit(Duration.ofHours(1)));
  }

  private String waitForever() throws InterruptedException {
    begun.countDown();
    never.await();
    return "never";
  }

  /** Sends a request, lets its handler begin, and advances the clock. Returns the response. */
  private String responseAfter(Duration time, String path) throws IOException {
    try (var client = new RawClient(server.port())) {
      var response = client.send(RawClient.get(path)).readToEndLater();
      Patience.await(begun);
      clock.advance(time);
      return Patience.value(response);
    }
  }

  @Promise({"27.23", "27.30", "27.38", "27.45"})
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void handlerIsInterruptedAtTimeLimitAndClientGets504(boolean hasErrorBody) throws Exception {
    var routes = HttpRoutes.none().text("/", exchange -> waitForever()).withTimeLimit(LIMIT);
    open(hasErrorBody ? routes.withErrorBody(ErrorBody.problemDetails()) : routes);
    try (var logged = new Logged()) {
      var response = responseAfter(LIMIT, "/");

      assertEquals("504", RawClient.codes(response));
      assertFalse(response.contains("Retry-After"), response); // would invite a repetition
      assertEquals(hasErrorBody, response.contains("\"status\":504"), response);
      assertTrue(logged.text().contains("GET / was answered 504, because the handler took longer than the time limit"),
          logged.text());
    }
    Patience.eventually(() -> server.stats().getFirst().answered() == 1);
    var counts = server.stats().getFirst().responses();
    assertEquals(new ResponseCounts(0, 0, 0, 0, 1, 1, 0), counts); // timed out, and not refused
    var failure = server.lastFailures().getFirst();
    assertEquals(List.of(504, true), List.of(failure.status(), failure.number().isPresent()));
  }

  /** The reason for 504 in place of 503: a client that repeats the request pays twice. */
  @Promise("27.23")
  @Test
  void askedActorFinishesItsWorkAfterClientGot504() throws Exception {
    var paid = new CompletableFuture<String>();
    var payments = scope.anonymous().newActorWithReturn((String order) -> {
      begun.countDown();
      Patience.await(never);
      paid.complete(order);
      return "paid";
    });
    open(HttpRoutes.none().text("/", exchange -> payments.ask("hat")).withTimeLimit(LIMIT));

    var response = responseAfter(LIMIT, "/");
    never.countDown();

    assertEquals("504", RawClient.codes(response));
    assertFalse(response.contains("Retry-After"), response);
    assertEquals("hat", Patience.value(paid));
  }

  /** The exception of a refusal does not tell whether the handler has done other work before. */
  @Promise("27.23")
  @Test
  void refusalThatHandlerGetsAfterTimeLimitBecomes504() throws Exception {
    var stopped = scope.anonymous().newActorWithReturn((String message) -> message);
    stopped.close();
    open(HttpRoutes.none().text("/", exchange -> {
      assertThrows(InterruptedException.class, this::waitForever);
      return stopped.ask("x");
    }).withTimeLimit(LIMIT));

    assertEquals("504", RawClient.codes(responseAfter(LIMIT, "/")));
  }

  @Promise("27.41")
  @ParameterizedTest
  @CsvSource({"false, 'text/plain; charset=utf-8'", "true, application/problem+json"})
  void clientAndLogGetTimeLimitPathAndFailureNumber(boolean hasErrorBody, String type) throws Exception {
    var routes = HttpRoutes.none().text("GET /orders/{id}", exchange -> waitForever()).withTimeLimit(LIMIT);
    open(hasErrorBody ? routes.withErrorBody(ErrorBody.problemDetails()) : routes);
    try (var logged = new Logged()) {
      var response = responseAfter(LIMIT, "/orders/%3Cb%3E");

      var match = Pattern.compile("GET /orders/<b> took longer than the time limit of 5 s; "
          + "the log has it as failure ([0-9a-f]{8})").matcher(response);
      assertTrue(response.contains("Content-Type: " + type + "\r\n") && match.find(), response);
      assertTrue(logged.text().contains("failure " + match.group(1) + " of GET /orders/"), logged.text());
      assertTrue(logged.text().contains("because the handler took longer than the time limit of 5 s"), logged.text());
    }
  }

  @Test
  void askIsInterruptedAtTimeLimit() throws Exception {
    var silent = scope.anonymous().newActorWithReturn((String message) -> waitForever());
    open(HttpRoutes.none().text("/", exchange -> silent.ask("x")).withTimeLimit(LIMIT));

    assertEquals("504", RawClient.codes(responseAfter(LIMIT, "/")));
  }

  @Test
  void responseIsSentIfHandlerReturnsAfterTimeLimit() throws Exception {
    open(HttpRoutes.none().text("/", exchange -> {
      assertThrows(InterruptedException.class, this::waitForever);
      return "late";
    }).withTimeLimit(LIMIT));

    assertTrue(responseAfter(LIMIT, "/").endsWith("late"));
  }

  @Test
  void failureRuleForInterruptChoosesResponseAtTimeLimit() throws Exception {
    open(HttpRoutes.none().text("/", exchange -> waitForever()).onFailure(InterruptedException.class, 503)
        .withTimeLimit(LIMIT));

    assertEquals("503", RawClient.codes(responseAfter(LIMIT, "/")));
  }

  @Test
  void mountedRoutesKeepTheirOwnTimeLimit() throws Exception {
    var inner = HttpRoutes.none().text("/a", exchange -> waitForever()).withTimeLimit(Duration.ofSeconds(1));
    open(HttpRoutes.none().mount("/in", inner).withTimeLimit(Duration.ofHours(1)));

    assertEquals("504", RawClient.codes(responseAfter(Duration.ofSeconds(1), "/in/a")));
  }

  @Test
  void handlerWithinTimeLimitIsNeverInterrupted() throws Exception {
    open(HttpRoutes.none().text("/", exchange -> "" + Thread.currentThread().isInterrupted()).withTimeLimit(LIMIT));
    try (var client = new RawClient(server.port())) {
      for (int i = 0; i < 10; i++) {
        assertTrue(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").readResponse().endsWith("false"));
        clock.advance(LIMIT);
      }
    }
  }

  @Promise("27.23")
  @Test
  void interruptByTimeLimitWaitsUntilBodyWasRead() throws Exception {
    var conversation = new CompletableFuture<Thread>();
    open(HttpRoutes.none().text("/", exchange -> {
      conversation.complete(Thread.currentThread());
      return exchange.bodyAsText() + " " + Thread.interrupted();
    }).withTimeLimit(LIMIT));
    try (var client = new RawClient(server.port())) {
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
      Patience.eventually(() -> ServerScope.isWaitingForClient(Patience.value(conversation)));

      clock.advance(LIMIT);
      client.send("cd");

      assertTrue(client.readResponse().endsWith("abcd true"));
    }
  }

  @Test
  void streamIsWrittenAlthoughHandlerIgnoresInterrupt() throws Exception {
    open(HttpRoutes.none().stream("/", exchange -> {
      assertThrows(InterruptedException.class, this::waitForever);
      Thread.currentThread().interrupt(); // as if the handler had not noticed
      exchange.outputStream().write("whole".getBytes());
      exchange.outputStream().flush();
      assertTrue(Thread.currentThread().isInterrupted());
    }).withTimeLimit(LIMIT));

    assertTrue(responseAfter(LIMIT, "/").contains("whole"));
  }

  @Test
  void eventStreamHasNoTimeLimit() throws Exception {
    open(HttpRoutes.none().stream("/", exchange -> {
      var events = exchange.eventActor();
      begun.countDown();
      never.await();
      events.sendMessage("late event");
    }).withTimeLimit(LIMIT));
    try (var client = new RawClient(server.port())) {
      var response = client.send(RawClient.get("/")).readToEndLater();
      Patience.await(begun);

      clock.advance(LIMIT.multipliedBy(2));
      never.countDown();

      assertTrue(Patience.value(response).contains("late event"));
    }
  }

  @Test
  void timeLimitOfZeroIsRefused() {
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().withTimeLimit(Duration.ZERO));

    assertTrue(refusal.getMessage().startsWith("a time limit of "), refusal.getMessage());
    assertFalse(HttpRoutes.none().withTimeLimit(LIMIT).toString().isEmpty());
  }
}
