package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.CircuitOpenException;
import io.fibry.FailurePolicy;
import io.fibry.flow.CircuitBreaker;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the meters of topics and circuit breakers. */
class BlockMetersTest {
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
  private final TestScope scope = TestScope.fibers();

  @AfterEach
  void close() {
    scope.close();
  }

  private double counter(String name) {
    return registry.get(name).tag("floor", "two").functionCounter().count();
  }

  private double gauge(String name) {
    return registry.get(name).tag("floor", "two").gauge().value();
  }

  @Test
  void topicMetersShowMessagesAndDeliveries() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    prices.subscribeToLatest(price -> {});
    prices.subscribeToLatest(price -> {});
    prices.publish(42);
    var meters = new TopicMeters(prices, Tags.of("floor", "two"));

    meters.bindTo(registry);

    assertEquals(1, counter("fibry.topic.published"));
    assertEquals(2, counter("fibry.topic.delivered"));
    assertEquals(0, counter("fibry.topic.refused"));
    assertEquals(2, gauge("fibry.topic.subscribers"));
    assertEquals("prices", registry.get("fibry.topic.published").meter().getId().getTag("topic"));
    prices.close();
    Patience.eventually(() -> {
      clock.addSeconds(1);
      return gauge("fibry.topic.subscribers") == 0;
    });
    assertEquals(1, counter("fibry.topic.published"));

    meters.close();
    assertEquals(List.of(), registry.getMeters());
  }

  private List<Double> ofSubscriber(String subscriber) {
    clock.addSeconds(1);
    registry.get("fibry.topic.subscribers").gauge().value(); // shows new subscribers
    return Stream.of("delivered", "refused", "dropped").map(count -> registry.find("fibry.topic.subscriber." + count)
        .tags("topic", "prices", "subscriber", subscriber).functionCounter())
        .map(counter -> counter == null ? -1 : counter.count()).toList();
  }

  /** A subscriber that drops messages has got them, so the deliveries do not show it. */
  @Test
  void eachSubscriberHasCountersWhileItIsSubscribed() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    var gate = new CountDownLatch(1);
    var entered = new CountDownLatch(1);
    var slow = prices.subscribe(Mailbox.bounded(2, Overflow.DROP_OLDEST), price -> {
      entered.countDown();
      gate.await();
    });
    try (var meters = new TopicMeters(prices)) {
      meters.bindTo(registry);
      prices.subscribe(scope.named("audit").newActor((Integer price) -> {}));
      prices.publish(0);
      Patience.await(entered);
      for (int i = 1; i <= 5; i++) prices.publish(i);

      assertEquals(List.of(6.0, 0.0, 3.0), ofSubscriber("prices/1"));
      assertEquals(List.of(6.0, 0.0, 0.0), ofSubscriber("audit"));
      assertEquals(3, registry.get("fibry.topic.dropped").tag("topic", "prices").functionCounter().count());
      gate.countDown();
      slow.close();
      assertEquals(List.of(-1.0, -1.0, -1.0), ofSubscriber("prices/1"));
      assertEquals(List.of(6.0, 0.0, 0.0), ofSubscriber("audit"));
    } finally {
      gate.countDown();
    }
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void countersOfNamesakesDoNotShrinkWhenOneCloses() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    try (var meters = new TopicMeters(prices)) {
      meters.bindTo(registry);
      var first = prices.subscribeOn(Runnable::run, price -> {});
      prices.subscribeOn(Runnable::run, price -> {});
      for (int i = 0; i < 3; i++) prices.publish(i);
      assertEquals(List.of(6.0, 0.0, 0.0), ofSubscriber("executor"));

      first.close();

      assertEquals(List.of(6.0, 0.0, 0.0), ofSubscriber("executor"));
      prices.publish(3);
      assertEquals(List.of(7.0, 0.0, 0.0), ofSubscriber("executor"));
    }
  }

  /** A registry reads the meters in any order, so the first one must take the sample for all. */
  @Test
  void sumsOfSubscribersAgreeWithTopicInEachScrape() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    new TopicMeters(prices).bindTo(registry);
    prices.subscribeOn(Runnable::run, price -> {});
    assertEquals(List.of(0.0, 0.0, 0.0), ofSubscriber("executor"));
    prices.publish(1);
    clock.addSeconds(1);

    var ofSubscriber = registry.get("fibry.topic.subscriber.delivered").functionCounter().count();
    prices.publish(2);

    assertEquals(List.of(1.0, 1.0, 1.0), List.of(ofSubscriber,
        registry.get("fibry.topic.published").functionCounter().count(),
        registry.get("fibry.topic.delivered").functionCounter().count()));
  }

  @Test
  void onlyTwentySubscribersOfTopicHaveCounters() {
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    new TopicMeters(prices).bindTo(registry);
    for (int i = 0; i < 30; i++) prices.subscribeToLatest(price -> {});
    for (int i = 0; i < 3; i++) prices.subscribeOn(Runnable::run, price -> {});

    ofSubscriber("prices/1");

    assertEquals(IntStream.rangeClosed(1, 20).mapToObj(i -> "prices/" + i).collect(Collectors.toSet()),
        registry.find("fibry.topic.subscriber.delivered").meters().stream()
            .map(meter -> meter.getId().getTag("subscriber")).collect(Collectors.toSet()));
  }

  @Test
  void javadocSnippetBindsTopicMetersToRegistry() {
    // @start region="topic"
    Topic<Integer> prices = Topic.open(scope.named("prices"));
    new TopicMeters(prices).bindTo(registry);
    // @end
    assertEquals(0, registry.get("fibry.topic.published").tag("topic", "prices").functionCounter().count());
  }

  @Test
  void circuitBreakerMetersShowCallsAndState() {
    // @start region="breaker"
    var breaker = CircuitBreaker.of("payments", scope.anonymous(), options -> options.withWindow(2, 2));
    new BreakerMeters("payments", breaker).bindTo(registry);
    // @end
    var meters = new BreakerMeters("payments", breaker, Tags.of("floor", "two"));
    meters.bindTo(registry);
    var payments = breaker.around(scope.anonymous()).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object message) -> {
          throw new IllegalStateException("on purpose");
        });
    assertEquals(0, gauge("fibry.breaker.open"));

    for (int i = 0; i < 2; i++) assertThrows(IllegalStateException.class, () -> payments.ask("fails"));
    assertThrows(CircuitOpenException.class, () -> payments.ask("refused"));

    clock.addSeconds(1);
    assertEquals(2, counter("fibry.breaker.permitted"));
    assertEquals(2, counter("fibry.breaker.failed"));
    assertEquals(1, counter("fibry.breaker.refused"));
    assertEquals(1, gauge("fibry.breaker.open"));
    meters.close();
    assertEquals(4, registry.getMeters().size());
  }
}
