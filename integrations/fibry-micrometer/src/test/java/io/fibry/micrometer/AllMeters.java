package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.Cluster;
import io.fibry.flow.CircuitBreaker;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;

/**
 * Registers all meters of this module. The server has responded with 200, 500 and 503. The actor
 * {@code clerk} has been busy, and a hundred messages have waited for it, for a minute, and it has
 * refused a message and let a request expire. The actor {@code courier} has failed and restarted,
 * and is suspended.
 */
final class AllMeters {
  private static final Duration BACKOFF = Duration.ofHours(1);

  private final TestScope shop;
  private final FolderStore store;
  private final Cluster cluster;
  private final Topic<String> prices;
  private final HttpServer server;
  private final CountDownLatch gate = new CountDownLatch(1);

  private AllMeters(MeterRegistry registry, MockClock clock, Path folder) throws IOException, InterruptedException {
    var timers = new MessageMeters("shop").withActors("clerk");
    timers.bindTo(registry);
    shop = TestScope.open("shop", options -> options.withContextPropagator(timers));
    store = FolderStore.open(folder);
    cluster = Cluster.local("shop");
    prices = Topic.open(shop.named("prices"));
    prices.subscribeToLatest(price -> {});
    server = HttpServer.open(ActorSystem.anonymous(), 0,
        HttpRoutes.none().text("GET /orders", exchange -> "hat").text("/full", exchange -> {
          throw new HttpException(503, "for a test");
        }).text("/broken", exchange -> {
          throw new HttpException(500, "for a test");
        }), options -> options);
    new ScopeMeters(shop).bindTo(registry);
    new ActorMeters(shop, "clerk", "cart-*", "*").bindTo(registry);
    new StoreMeters("orders", store).bindTo(registry);
    new NodeMeters(cluster).bindTo(registry);
    new TopicMeters(prices).bindTo(registry);
    new BreakerMeters("payments", CircuitBreaker.of("payments", ActorSystem.anonymous(), options -> options))
        .bindTo(registry);
    new SchedulerMeters().bindTo(registry);
    new RouteMeters("web", server).bindTo(registry);
    callRoutes(registry);
    occupyClerk();
    failCourier();
    readMeterAfterSecond(registry, clock); // begins to measure the times
    shop.clock().advance(Duration.ofMinutes(1));
    readMeterAfterSecond(registry, clock); // makes the gauges that name the clerk
    clock.addSeconds(1);
  }

  interface Body {
    void run() throws Exception;
  }

  /**
   * Registers all meters, runs the body, and ends the scope, the store, the server and the node.
   * The meters remain.
   *
   * @param clock the clock of the registry
   * @param folder for the files of the store
   */
  static void with(MeterRegistry registry, MockClock clock, Path folder, Body body) throws Exception {
    var all = new AllMeters(registry, clock, folder);
    try {
      body.run();
    } finally {
      all.close();
    }
  }

  static PrometheusMeterRegistry prometheus(MockClock clock) {
    return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), clock);
  }

  private static void readMeterAfterSecond(MeterRegistry registry, MockClock clock) {
    clock.addSeconds(1);
    registry.get("fibry.actor.living").tag("actor", "clerk").gauge().value();
    registry.get("fibry.topic.subscribers").gauge().value();
  }

  private void occupyClerk() {
    var entered = new CountDownLatch(1);
    var clerk = shop.named("clerk").mailbox(Mailbox.bounded(100, Overflow.REJECT))
        .newActorWithReturn((String order) -> {
          entered.countDown();
          gate.await();
          return order;
        });
    clerk.sendMessage("hat");
    Patience.await(entered);
    var expiring = clerk.sendMessageReturn("gloves", Duration.ofSeconds(1));
    shop.clock().advance(Duration.ofSeconds(1));
    assertThrows(CompletionException.class, expiring::join);
    for (int i = 0; i < 100; i++) clerk.sendMessage("shoes");
    clerk.sendMessage("refused");
  }

  private void failCourier() {
    shop.named("courier").onFailure(FailurePolicy.restart().withBackoff(BACKOFF, BACKOFF).withoutLog())
        .newActor((String order) -> {
          throw new IllegalStateException("for a test");
        }).sendMessage("hat");
    Patience.eventually(() -> shop.actors().stream().anyMatch(actor -> actor.state() == ActorState.SUSPENDED));
  }

  private void callRoutes(MeterRegistry registry) throws IOException, InterruptedException {
    try (var client = HttpClient.newHttpClient()) {
      for (var path : List.of("/orders", "/full", "/broken", "/nowhere"))
        client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path)).build(),
            BodyHandlers.discarding());
    }
    Patience.eventually(() -> registry.find("fibry.http.requests").timers().size() == 4);
  }

  private void close() {
    gate.countDown();
    shop.advance(BACKOFF);
    shop.close();
    server.close();
    prices.close();
    cluster.close();
    store.close();
  }
}
