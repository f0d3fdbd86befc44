package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.CircuitOpenException;
import io.fibry.FailurePolicy;
import io.fibry.flow.CircuitBreaker;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
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

    assertEquals(2, counter("fibry.breaker.permitted"));
    assertEquals(2, counter("fibry.breaker.failed"));
    assertEquals(1, counter("fibry.breaker.refused"));
    assertEquals(1, gauge("fibry.breaker.open"));
    meters.close();
    assertEquals(4, registry.getMeters().size());
  }
}
