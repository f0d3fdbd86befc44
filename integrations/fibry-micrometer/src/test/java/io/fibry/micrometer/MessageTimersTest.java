package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.FailurePolicy;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MessageTimersTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final MessageMeters timers = new MessageMeters("test");
  private final TestScope scope = TestScope.open("test", options -> options.withContextPropagator(timers));

  @AfterEach
  void close() {
    scope.close();
  }

  private Timer waiting() {
    return registry.get("fibry.wait").tag("scope", "test").timer();
  }

  private Timer handling() {
    return registry.get("fibry.handling").tag("scope", "test").timer();
  }

  @Test
  void waitingTimeIsMeasuredFromSend() throws Exception {
    timers.bindTo(registry);
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var actor = scope.anonymous().newActor((Integer n) -> {
      entered.countDown();
      gate.await();
    });
    actor.sendMessage(1);
    Patience.await(entered);
    actor.sendMessage(2);
    long sendTime = System.nanoTime();
    while (System.nanoTime() - sendTime < 20_000_000) Thread.onSpinWait();
    gate.countDown();
    scope.assertQuiet();

    assertEquals(2, waiting().count());
    assertTrue(waiting().max(TimeUnit.MILLISECONDS) >= 20, () -> waiting().toString());
    assertTrue(handling().max(TimeUnit.MILLISECONDS) >= 20, () -> handling().toString());
  }

  @Test
  void failedHandlingIsTimed() {
    timers.bindTo(registry);
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Integer n) -> {
      if (n == 2) throw new IllegalStateException("on purpose");
    });
    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    scope.assertQuiet();

    assertEquals(3, handling().count());
  }

  @Test
  void repeatingMessageRecordsEveryHandlingAndOneWait() {
    timers.bindTo(registry);
    var actor = scope.anonymous().newActor((Integer n) -> {});
    actor.sendMessageEvery(1, Duration.ofSeconds(1));

    scope.advance(Duration.ofSeconds(3));

    assertEquals(3, handling().count());
    assertEquals(1, waiting().count());
  }

  @Test
  void messagesBeforeBindingAreNotTimed() {
    var actor = scope.anonymous().newActorWithReturn((Integer n) -> n);
    actor.ask(1);
    scope.assertQuiet();
    assertNull(timers.capture());

    timers.bindTo(registry);
    actor.ask(2);
    scope.assertQuiet();

    assertEquals(1, handling().count());
  }

  @Test
  void timesAreRecordedInEachBoundRegistry() {
    var otherRegistry = new SimpleMeterRegistry();
    timers.bindTo(registry);
    timers.bindTo(otherRegistry);
    scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
    scope.assertQuiet();

    assertEquals(List.of(1L, 1L), List.of(waiting().count(), otherRegistry.get("fibry.wait").timer().count()));
    assertEquals(List.of(1L, 1L), List.of(handling().count(), otherRegistry.get("fibry.handling").timer().count()));
  }

  @Test
  void timersOfChosenActorsHaveTagOfName() {
    var timersOfActors = timers.withActors("cart-*", "payments");
    timersOfActors.bindTo(registry);
    try (var shop = TestScope.open("shop", options -> options.withContextPropagator(timersOfActors))) {
      for (var name : List.of("cart-1", "cart-2", "stock")) shop.named(name).newActor((Integer n) -> {}).sendMessage(1);
      shop.assertQuiet();
    }

    for (var meter : List.of("fibry.wait", "fibry.handling"))
      assertEquals(List.of(2L, 0L, 1L), Stream.of("cart-*", "payments", "other")
          .map(actor -> registry.get(meter).tags("scope", "test", "actor", actor).timer().count()).toList());
    timersOfActors.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void closeRemovesTimers() {
    timers.bindTo(registry);
    var actor = scope.anonymous().newActorWithReturn((Integer n) -> n);

    timers.close();

    assertEquals(List.of(), registry.getMeters());
    assertEquals(1, actor.ask(1));
    assertNull(timers.capture());
  }

  @Test
  void handshakeAndEachWebSocketMessageAreTimed() throws Exception {
    timers.bindTo(registry);
    var routes = HttpRoutes.none().webSocket("/live", connection -> connection.texts().forEach(text -> {}));
    try (var server = HttpServer.open(scope.anonymous(), 0, routes, o -> o);
        var client = HttpClient.newHttpClient()) {
      var webSocket = client.newWebSocketBuilder()
          .buildAsync(URI.create("ws://localhost:" + server.port() + "/live"), new WebSocket.Listener() {}).get();
      for (int i = 0; i < 3; i++) webSocket.sendText("hello", true).get();

      Patience.eventually(() -> handling().count() == 4); // the handshake, and each message while the WebSocket is open
      assertEquals(1, server.stats().getFirst().openWebSockets());
      webSocket.abort();
      Patience.eventually(() -> server.stats().getFirst().openWebSockets() == 0);

      assertEquals(4, handling().count());
    }
  }

  @Test
  void messageWithoutTimedStepsRecordsItsWaitOnly() {
    record Untimed() implements MultiStepMessage {
      @Override
      public Object currentStep() {
        return "a step";
      }

      @Override
      public long completedSteps() {
        return 1;
      }
    }
    timers.bindTo(registry);
    scope.anonymous().newActor((Untimed message) -> {}).sendMessage(new Untimed());
    scope.assertQuiet();

    assertEquals(List.of(1L, 0L), List.of(waiting().count(), handling().count()));
  }

  @Test
  void waitAndHandlingTimersHaveGivenTags() {
    new MessageMeters("test", Tags.of("floor", "two")).bindTo(registry);

    for (var meter : registry.getMeters()) assertEquals("two", meter.getId().getTag("floor"));
    assertEquals(2, registry.getMeters().stream().filter(Timer.class::isInstance).count());
  }

  /** Prometheus adds the buckets of several processes, which it cannot do with summaries. */
  @Test
  void timersOfMessagesHaveBucketsInPrometheus() {
    var prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    timers.bindTo(prometheus);
    scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
    scope.assertQuiet();

    var lines = prometheus.scrape().lines().toList();
    for (var name : List.of("fibry_wait_seconds", "fibry_handling_seconds")) {
      assertTrue(lines.contains("# TYPE " + name + " histogram"), name);
      assertEquals(18, lines.stream().filter(line -> line.startsWith(name + "_bucket{scope=\"test\",le=")).count());
      assertTrue(lines.contains(name + "_bucket{scope=\"test\",le=\"+Inf\"} 1"), name);
    }
  }

  /** The first exchange of a connection is handled when its request has come. */
  @Test
  void connectionRecordsOneWaitAndEachOfItsExchanges() throws Exception {
    var ofConnections = timers.withActors("web/*");
    ofConnections.bindTo(registry);
    try (var shop = TestScope.open("shop", options -> options.withContextPropagator(ofConnections));
        var server = HttpServer.open(shop.named("web"), 0, HttpRoutes.none().text("/", exchange -> "hat"), o -> o);
        var client = HttpClient.newHttpClient()) {
      for (int i = 0; i < 3; i++) client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port()))
          .build(), BodyHandlers.discarding());

      Patience.eventually(() -> timer("fibry.handling", "web/*").count() == 3);
      assertEquals(List.of(1L, 0L),
          List.of(timer("fibry.wait", "web/*").count(), timer("fibry.wait", "other").count()));
    }
  }

  private Timer timer(String name, String actor) {
    return registry.get(name).tags("scope", "test", "actor", actor).timer();
  }
}
