package io.fibry.pubsub;

import io.fibry.pubsub.Topic.SubscriberStats;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Sums of the counts of a topic's open subscriptions by name, for libraries of metrics. There are
 * sums for the names of the oldest subscriptions only, so that a topic with a subscriber for each
 * client has few sums. The sums of a name keep the counts of subscriptions that have ended, and
 * never shrink, as long as each read finds an open subscription of this name. Thread-safe.
 * {@snippet class="io.fibry.pubsub.SubscriberTotalsTest" region="totals"}
 */
public final class SubscriberTotals {
  private final Topic<?> topic;
  private final int maxNames;
  private Map<String, NameTotal> totals = Map.of(); // guarded by the monitor

  /** The sum of the open subscriptions of a name, and the sum that also has ended subscriptions. */
  private record NameTotal(SubscriberStats open, SubscriberStats all) {

    /**
     * Adds the growth of each count. If a subscription has ended, the sum of the open subscriptions
     * is smaller; the total then keeps its value.
     */
    NameTotal next(SubscriberStats nextOpen) {
      return new NameTotal(nextOpen, all.plus(new SubscriberStats(all.name(),
          Math.max(0, nextOpen.delivered() - open.delivered()), Math.max(0, nextOpen.refused() - open.refused()),
          Math.max(0, nextOpen.dropped() - open.dropped()))));
    }
  }

  private SubscriberTotals(Topic<?> topic, int maxNames) {
    this.topic = topic;
    this.maxNames = maxNames;
  }

  /**
   * {@return totals of a topic}
   *
   * @param topic the topic
   * @param maxNames for how many names there are sums at most
   * @throws IllegalArgumentException if {@code maxNames} is less than 1
   */
  public static SubscriberTotals of(Topic<?> topic, int maxNames) {
    if (maxNames < 1) throw new IllegalArgumentException(
        "maxNames is " + maxNames + ", so no subscriber of " + topic + " has a sum; give 1 or more");
    return new SubscriberTotals(Objects.requireNonNull(topic, "topic"), maxNames);
  }

  /** {@return the sums now, in the order of the oldest open subscription of each name} */
  public synchronized List<SubscriberStats> read() {
    var open = new LinkedHashMap<String, SubscriberStats>();
    for (var stats : topic.subscribers())
      if (open.size() < maxNames || open.containsKey(stats.name()))
        open.merge(stats.name(), stats, SubscriberStats::plus);
    var next = new LinkedHashMap<String, NameTotal>();
    open.forEach((name, stats) -> {
      var previous = totals.get(name);
      next.put(name, previous == null ? new NameTotal(stats, stats) : previous.next(stats));
    });
    totals = next;
    return next.values().stream().map(NameTotal::all).toList();
  }

  @Override
  public String toString() {
    return "totals of the subscribers of " + topic;
  }
}
