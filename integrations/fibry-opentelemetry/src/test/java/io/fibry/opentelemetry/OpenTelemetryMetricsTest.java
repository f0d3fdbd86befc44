package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.CircuitOpenException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.flow.CircuitBreaker;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.PointData;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the metrics of scopes, actors, servers, blocks and the scheduler. */
class OpenTelemetryMetricsTest {
  private static final int FIRST_VERSION = 24; // of Java, whose scheduler has a bean

  private final Telemetry telemetry = new Telemetry();
  private final OpenTelemetryMetrics metrics =
      OpenTelemetryMetrics.of(telemetry.api(), Attributes.of(AttributeKey.stringKey("floor"), "two"));
  private final TestScope scope = TestScope.fibers();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch entered = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    scope.close();
    metrics.close();
    telemetry.close();
  }

  /** Makes an actor with room for two messages, which waits at its first message. */
  private void occupyActor() {
    var actor = scope.named("orders").onFailure(FailurePolicy.resume().withoutLog())
        .mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor((String message) -> {
          if (message.equals("fails")) throw new IllegalStateException("on purpose");
          if (!message.equals("waits")) return;
          entered.countDown();
          gate.await();
        });
    actor.sendMessage("fails");
    scope.assertQuiet();
    actor.sendMessage("waits");
    Patience.await(entered);
    for (var message : List.of("queued", "queued", "refused")) actor.sendMessage(message);
  }

  private double messages(String outcome) {
    return telemetry.value("fibry.messages", Map.of("scope", "test", "floor", "two", "outcome", outcome));
  }

  @Test
  void messagesAreCountedByOutcome() {
    metrics.addScope(scope);
    occupyActor();

    assertEquals(List.of(0.0, 1.0, 1.0, 0.0),
        List.of(messages("handled"), messages("failed"), messages("rejected"), messages("dropped")));
    assertEquals(2, telemetry.value("fibry.messages.waiting", Map.of("scope", "test")));
    assertEquals(1, telemetry.value("fibry.messages.handling", Map.of("scope", "test")));
    gate.countDown();
    scope.assertQuiet();
    assertEquals(3, messages("handled"));
    assertEquals("{message}", telemetry.metric("fibry.messages").orElseThrow().getUnit());
  }

  @Test
  void everyDeadLetterReasonIsOutcome() {
    metrics.addScope(scope);

    var expected = new HashSet<>(Set.of("handled"));
    for (var reason : DeadLetter.Reason.values()) expected.add(reason.name().toLowerCase(Locale.ROOT));
    assertEquals(expected, attributes("fibry.messages", "outcome"));
  }

  private Set<String> attributes(String metric, String name) {
    return telemetry.metric(metric).orElseThrow().getData().getPoints().stream().map(PointData::getAttributes)
        .map(attributes -> attributes.get(AttributeKey.stringKey(name))).collect(Collectors.toSet());
  }

  @Test
  void twoScopesShareMetric() {
    try (var other = ActorSystem.openScope("other")) {
      metrics.addScope(scope).addScope(other);

      assertEquals(Set.of("test", "other"), attributes("fibry.messages", "scope"));
    }
  }

  @Test
  void chosenActorsHaveMetrics() {
    metrics.addActors(scope, "orders", "later");
    occupyActor();
    var orders = Map.of("scope", "test", "actor", "orders");

    assertEquals(List.of(0.0, 1.0, 1.0, 2.0), List.of(telemetry.value("fibry.actor.handled", orders),
        telemetry.value("fibry.actor.failed", orders), telemetry.value("fibry.actor.refused", orders),
        telemetry.value("fibry.actor.waiting", orders)));
    for (var name : List.of("failed", "refused")) assertEquals(1, telemetry.value("fibry.actor.max." + name,
        Map.of("scope", "test", "actor", "orders", "name", "orders")), name);
    for (var name : List.of("restarted", "expired"))
      assertEquals(-1, telemetry.value("fibry.actor.max." + name, Map.of()), name);
    Patience.eventually(() -> telemetry.value("fibry.actor.busy", orders) > 0);
    scope.clock().advance(Duration.ofSeconds(12));
    assertEquals(12, telemetry.value("fibry.actor.oldest.waiting", orders));
    for (var name : List.of("handled", "failed", "refused", "restarted", "living", "suspended", "waiting",
        "oldest.waiting", "busy"))
      assertEquals(0, telemetry.value("fibry.actor." + name, Map.of("actor", "later")), name);
  }

  @Test
  void actorThatIsBusyOrWaitsForTenSecondsIsNamed() {
    metrics.addActors(scope, "later", "*");
    occupyActor();
    telemetry.metrics(); // begins to measure the times
    scope.clock().advance(Duration.ofMillis(9_999));
    assertEquals(-1, telemetry.value("fibry.actor.max.busy", Map.of()));

    scope.clock().advance(Duration.ofMillis(1));

    for (var name : List.of("busy", "waiting")) assertEquals(10, telemetry.value("fibry.actor.max." + name,
        Map.of("scope", "test", "floor", "two", "actor", "*", "name", "orders")), name);
    gate.countDown();
    scope.assertQuiet();
    assertEquals(-1, telemetry.value("fibry.actor.max.busy", Map.of()));
  }

  @Test
  void restartsAndSuspendedActorsAreMeasured() {
    metrics.addScope(scope).addActors(scope, "orders");
    scope.named("orders")
        .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog())
        .newActor((String message) -> {
          throw new IllegalStateException("on purpose");
        }).sendMessage("fails");
    Patience.eventually(() -> telemetry.value("fibry.actor.suspended", Map.of("actor", "orders")) == 1);
    assertEquals(1, telemetry.value("fibry.scope.suspended", Map.of("scope", "test")));

    scope.advance(Duration.ofSeconds(1));

    assertEquals(List.of(0.0, 1.0, 0.0, 1.0),
        List.of(telemetry.value("fibry.actor.suspended", Map.of("actor", "orders")),
            telemetry.value("fibry.actor.restarted", Map.of("actor", "orders")),
            telemetry.value("fibry.scope.suspended", Map.of("scope", "test")),
            telemetry.value("fibry.scope.restarted", Map.of("scope", "test"))));
  }

  @Test
  void deadLettersAreCountedWithTimeOfLastOne() {
    metrics.addScope(scope);
    assertEquals(0, telemetry.value("fibry.dead.letters.last.timestamp", Map.of("scope", "test")));
    occupyActor(); // one message fails and one is refused

    assertEquals(List.of(1.0, 1.0, 0.0), List.of("failed", "rejected", "dropped").stream()
        .map(reason -> telemetry.value("fibry.dead.letters", Map.of("scope", "test", "reason", reason))).toList());
    assertEquals(scope.clock().instant().toEpochMilli() / 1e3,
        telemetry.value("fibry.dead.letters.last.timestamp", Map.of("scope", "test")));
  }

  @Test
  void beginningOfNamesSumsAllActorsAlsoThoseThatEnded() {
    metrics.addActors(scope, "cart-*", "payments");
    for (int i = 0; i < 10; i++) {
      var cart = scope.named("cart-" + i).newActorWithReturn((Integer n) -> n);
      cart.ask(1);
      cart.ask(2);
      if (i < 7) cart.close();
    }
    scope.assertQuiet();
    var carts = Map.of("scope", "test", "floor", "two", "actor", "cart-*");

    Patience.eventually(() -> telemetry.value("fibry.actor.living", carts) == 3);
    assertEquals(20, telemetry.value("fibry.actor.handled", carts));
    assertEquals(Set.of("cart-*", "payments"), attributes("fibry.actor.handled", "actor"));
  }

  @Test
  void uselessActorNamesAreRefused() {
    var noName = assertThrows(IllegalArgumentException.class, () -> metrics.addActors(scope));
    var twice = assertThrows(IllegalArgumentException.class, () -> metrics.addActors(scope, "cart-*", "cart-*"));

    assertEquals("no name of an actor is given; give at least one name", noName.getMessage());
    assertEquals("\"cart-*\" is given twice; give each name once", twice.getMessage());
  }

  @Test
  void closeRemovesMetrics() {
    metrics.addScope(scope).addActors(scope, "orders").addScheduler();
    assertTrue(telemetry.metric("fibry.messages").isPresent());

    metrics.close();

    assertEquals(List.of(), telemetry.metrics());
  }

  @Test
  void topicMetricsShowMessagesAndDeliveries() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    prices.subscribeToLatest(price -> {});
    prices.subscribeToLatest(price -> {});
    prices.publish(42);

    metrics.addTopic(prices);

    var first = Map.of("topic", "prices", "floor", "two", "subscriber", "prices/1");
    assertEquals(List.of(1.0, 0.0, 0.0), List.of("delivered", "refused", "dropped").stream()
        .map(count -> telemetry.value("fibry.topic.subscriber." + count, first)).toList());
    var topic = Map.of("topic", "prices", "floor", "two");
    assertEquals(0, telemetry.value("fibry.topic.dropped", topic));
    assertEquals(List.of(1.0, 2.0, 0.0, 2.0), List.of(telemetry.value("fibry.topic.published", topic),
        telemetry.value("fibry.topic.delivered", topic), telemetry.value("fibry.topic.refused", topic),
        telemetry.value("fibry.topic.subscribers", topic)));
    for (int i = 0; i < 30; i++) prices.subscribeToLatest(price -> {});
    assertEquals(20, attributes("fibry.topic.subscriber.delivered", "subscriber").size());
  }

  /** A monitoring system takes a counter that falls for a counter of a new process. */
  @Test
  void counterOfNamesakesDoesNotFallWhenOneCloses() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    metrics.addTopic(prices);
    var executor = Map.of("topic", "prices", "subscriber", "executor");
    var first = prices.subscribeOn(Runnable::run, price -> {});
    prices.subscribeOn(Runnable::run, price -> {});
    for (int i = 0; i < 3; i++) prices.publish(i);
    assertEquals(6, telemetry.value("fibry.topic.subscriber.delivered", executor));

    first.close();

    assertEquals(6, telemetry.value("fibry.topic.subscriber.delivered", executor));
  }

  @Test
  void breakerMetricsShowCallsAndState() {
    var breaker = CircuitBreaker.of("payments", scope.anonymous(), options -> options.withWindow(2, 2));
    metrics.addBreaker("payments", breaker);
    var payments = breaker.around(scope.anonymous()).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object message) -> {
          throw new IllegalStateException("on purpose");
        });
    var attributes = Map.of("breaker", "payments");
    assertEquals(0, telemetry.value("fibry.breaker.open", attributes));

    for (int i = 0; i < 2; i++) assertThrows(IllegalStateException.class, () -> payments.ask("fails"));
    assertThrows(CircuitOpenException.class, () -> payments.ask("refused"));

    assertEquals(List.of(2.0, 2.0, 1.0, 1.0), List.of(telemetry.value("fibry.breaker.permitted", attributes),
        telemetry.value("fibry.breaker.failed", attributes), telemetry.value("fibry.breaker.refused", attributes),
        telemetry.value("fibry.breaker.open", attributes)));
  }

  @Test
  void schedulerHasMetricsIfItHasBean() {
    metrics.addScheduler();

    if (Runtime.version().feature() < FIRST_VERSION) assertEquals(List.of(), telemetry.metrics());
    else assertTrue(telemetry.value("fibry.scheduler.parallelism", Map.of()) >= 1);
  }

  @Test
  void withoutBeanNoSchedulerMetricIsAdded() {
    metrics.addScheduler("io.fibry:type=NoSuchBean");

    assertEquals(List.of(), telemetry.metrics());
  }

  // ---- HTTP

  private double requests(Map<String, ?> attributes) {
    return telemetry.value("http.server.request.duration", attributes);
  }

  private double responses(String route, String outcome) {
    return telemetry.value("fibry.http.responses",
        Map.of("server", "web", "http.route", route, "outcome", outcome));
  }

  /** Waits, because an exchange is recorded after its response. */
  private void awaitRequests(double expected, Map<String, ?> attributes) {
    Patience.eventually(() -> requests(attributes) == expected);
  }

  @Test
  void exchangesAreRecordedByRouteAndStatus() throws Exception {
    var routes = HttpRoutes.none().text("GET /orders/{id}", exchange -> "order").text("/broken", exchange -> {
      throw new HttpException(503, "for a test");
    }).webSocket("/live", connection -> connection.texts().forEach(text -> {}));
    try (var server = HttpServer.open(scope.anonymous(), 0, routes, o -> o);
        var client = HttpClient.newHttpClient()) {
      metrics.addServer("web", server);
      var address = "localhost:" + server.port();
      for (var path : List.of("/orders/1", "/orders/2", "/broken", "/nowhere"))
        client.send(HttpRequest.newBuilder(URI.create("http://" + address + path)).build(), BodyHandlers.discarding());
      var webSocket = client.newWebSocketBuilder()
          .buildAsync(URI.create("ws://" + address + "/live"), new WebSocket.Listener() {}).join();

      awaitRequests(1, Map.of("http.response.status_code", 101, "http.route", "/live"));
      awaitRequests(2, Map.of("http.route", "/orders/{id}", "http.request.method", "GET", "url.scheme", "http",
          "http.response.status_code", 200, "server", "web", "error.type", ""));
      awaitRequests(1, Map.of("http.route", "/broken", "error.type", "503", "http.request.method", "GET"));
      awaitRequests(1, Map.of("http.route", "", "http.response.status_code", 404, "http.request.method", "GET"));
      Patience.eventually(() -> telemetry.value("fibry.http.websockets", Map.of("http.route", "/live")) == 1);
      assertEquals(List.of(2.0, 1.0, 0.0), List.of(responses("/orders/{id}", "SUCCESS"),
          responses("/broken", "UNAVAILABLE"), responses("/broken", "SERVER_ERROR")));
      assertEquals(1_024, telemetry.value("fibry.server.max.exchanges", Map.of("server", "web")));
      assertEquals(0, telemetry.value("fibry.server.working", Map.of("server", "web")));
      assertTrue(telemetry.value("fibry.server.connections", Map.of("server", "web")) >= 1, "the open WebSocket");
      assertEquals(0, telemetry.value("fibry.server.cut.off", Map.of("server", "web")));
      var point = (HistogramPointData) telemetry.point("http.server.request.duration",
          Map.of("http.route", "/orders/{id}")).orElseThrow();
      assertEquals(List.of(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
          point.getBoundaries()); // as in the semantic conventions
      assertEquals("s", telemetry.metric("http.server.request.duration").orElseThrow().getUnit());

      metrics.close();
      client.send(HttpRequest.newBuilder(URI.create("http://" + address + "/orders/3")).build(),
          BodyHandlers.discarding());
      Patience.eventually(() -> server.stats().stream().mapToLong(HttpServer.RouteStats::answered).sum() == 6);
      assertEquals(2, requests(Map.of("http.route", "/orders/{id}")));
      webSocket.abort();
    }
  }

  @Test
  void attributesOfExchangesFollowSemanticConventions() throws Exception {
    var routes = HttpRoutes.none().text("/orders", exchange -> "order");
    try (var server =
        HttpServer.open(scope.anonymous(), 0, routes, o -> o.withProxies("127.0.0.0/8", "::1"));
        var client = HttpClient.newHttpClient()) {
      metrics.addServer("web", server);
      for (var method : List.of("POST", "TRACE", "PURGE", "BREW")) {
        var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/orders"))
            .header("X-Forwarded-Proto", "https").method(method, BodyPublishers.noBody()).build();
        client.send(request, BodyHandlers.discarding());
      }

      awaitRequests(1, Map.of("http.request.method", "POST", "url.scheme", "https", "http.response.status_code", 200,
          "http.route", "/orders", "error.type", ""));
      awaitRequests(1, Map.of("http.request.method", "TRACE", "http.response.status_code", 405));
      awaitRequests(2, Map.of("http.request.method", "_OTHER", "http.response.status_code", 501, "http.route", "",
          "error.type", "501")); // two unknown methods share one point
    }
  }

  // ---- durations

  @Test
  void durationsOfChosenActorsHaveAttributeOfName() {
    var durations = MessageDurations.of(telemetry.api(), "timed").withActors("cart-*");
    try (var timed = TestScope.open("timed", options -> options.withContextPropagator(durations))) {
      for (var name : List.of("cart-1", "cart-2", "stock"))
        timed.named(name).newActor((Integer n) -> {}).sendMessage(1);
      timed.assertQuiet();
    }

    for (var name : List.of("fibry.wait", "fibry.handling")) {
      assertEquals(2, telemetry.value(name, Map.of("scope", "timed", "actor", "cart-*")));
      assertEquals(1, telemetry.value(name, Map.of("scope", "timed", "actor", "other")));
    }
  }

  @Test
  void messagesAreMeasured() {
    var durations = MessageDurations.of(telemetry.api(), "timed");
    try (var timed = TestScope.open("timed", options -> options.withContextPropagator(durations))) {
      var actor = timed.anonymous().newActor((Integer n) -> {});
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      timed.assertQuiet();
    }
    for (var name : List.of("fibry.wait", "fibry.handling")) {
      assertEquals(3, telemetry.value(name, Map.of("scope", "timed")));
      var point = (HistogramPointData) telemetry.point(name, Map.of()).orElseThrow();
      assertEquals(17, point.getBoundaries().size());
      assertTrue(point.getSum() > 0);
    }
  }
}
