package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the sums of the counts of a topic's subscribers by name. */
class SubscriberTotalsTest {
  private final ActorScope scope = Variants.scope(options -> options);
  private final Topic<Integer> prices = Topic.open(scope.named("prices"));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private static SubscriberStats delivered(String name, long count) {
    return new SubscriberStats(name, count, 0, 0);
  }

  /** A monitoring system takes a counter that shrinks for a counter of a new process. */
  @Promise("19.28")
  @Test
  void totalDoesNotShrinkWhenNamesakeEnds() {
    // @start region="totals"
    var totals = SubscriberTotals.of(prices, 20); // sums for the oldest 20 names
    // @end
    var first = prices.subscribeOn(Runnable::run, price -> {});
    prices.subscribeOn(Runnable::run, price -> {});
    for (int i = 0; i < 3; i++) prices.publish(i);
    assertEquals(List.of(delivered("executor", 6)), totals.read());

    first.close();

    assertEquals(List.of(delivered("executor", 6)), totals.read());
    prices.publish(3);
    assertEquals(List.of(delivered("executor", 7)), totals.read());
  }

  @Promise("19.28")
  @Test
  void onlyOldestNamesHaveTotals() {
    var totals = SubscriberTotals.of(prices, 2);
    var first = prices.subscribeToLatest(price -> {});
    for (int i = 0; i < 2; i++) prices.subscribeToLatest(price -> {});
    assertEquals(List.of(delivered("prices/1", 0), delivered("prices/2", 0)), totals.read());

    first.close();

    assertEquals(List.of(delivered("prices/2", 0), delivered("prices/3", 0)), totals.read());
  }

  @Test
  void totalsWithoutNamesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> SubscriberTotals.of(prices, 0));
  }
}
