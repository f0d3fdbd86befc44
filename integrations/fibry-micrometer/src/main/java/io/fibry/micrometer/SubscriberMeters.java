package io.fibry.micrometer;

import io.fibry.pubsub.Topic.SubscriberStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * Counters of the open subscriptions of a topic in one registry, with the tag {@code subscriber}.
 * They exist for the oldest {@value #MAX} subscribers, so that a topic with a subscriber for each
 * client does not flood the registry. Subscriptions with the same name share counters, which keep
 * the counts of closed namesakes. Thread-safe.
 *
 * <p>The counters appear and disappear when the registry reads another meter of the topic. A thread
 * that finds another thread changing them does not wait, because it may have locked the registry,
 * which the other thread needs.
 */
final class SubscriberMeters {
  static final int MAX = 20;

  private final MeterRegistry registry;
  private final Tags tags;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, SubscriberCounters> shown = new HashMap<>(); // guarded by the lock
  private boolean isClosed; // guarded by the lock

  /** The counters of one name. */
  private static final class SubscriberCounters {
    private final BoundMeters registered = new BoundMeters();
    private SubscriberStats open; // the sums of the open subscriptions; guarded by the lock
    private volatile SubscriberStats stats; // with closed namesakes; written with the lock, read by the registry

    SubscriberCounters(SubscriberStats stats) {
      open = stats;
      this.stats = stats;
    }

    /**
     * Adds the growth of each count. If a namesake has closed, the sum is smaller; the counter then
     * keeps its value, because a counter must not shrink.
     */
    void update(SubscriberStats next) {
      stats = stats.plus(new SubscriberStats(stats.name(), Math.max(0, next.delivered() - open.delivered()),
          Math.max(0, next.refused() - open.refused()), Math.max(0, next.dropped() - open.dropped())));
      open = next;
    }

    /** The registry has only a weak reference to this object; the function refers to it, too. */
    void register(MeterRegistry registry, Tags tags, String suffix, String description,
        ToLongFunction<SubscriberStats> count) {
      registered.add(registry, FunctionCounter
          .builder("fibry.topic.subscriber." + suffix, this, unused -> count.applyAsLong(stats))
          .tags(tags).tag("subscriber", stats.name()).description(description).register(registry));
    }
  }

  SubscriberMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
  }

  /** Shows these subscribers, the oldest first. */
  void show(List<SubscriberStats> subscribers) {
    if (!lock.tryLock()) return;
    try {
      if (!isClosed) showWithLock(subscribers);
    } finally {
      lock.unlock();
    }
  }

  private void showWithLock(List<SubscriberStats> subscribers) {
    var byName = new HashMap<String, SubscriberStats>();
    for (var stats : subscribers)
      if (byName.size() < MAX || byName.containsKey(stats.name()))
        byName.merge(stats.name(), stats, SubscriberStats::plus);
    for (var name : new HashSet<>(shown.keySet()))
      if (!byName.containsKey(name)) shown.remove(name).registered.remove();
    byName.forEach((name, stats) -> {
      var counters = shown.get(name);
      if (counters == null) shown.put(name, newCounters(stats));
      else counters.update(stats);
    });
  }

  private SubscriberCounters newCounters(SubscriberStats stats) {
    var counters = new SubscriberCounters(stats);
    counters.register(registry, tags, "delivered", "Deliveries that this subscriber has accepted",
        SubscriberStats::delivered);
    counters.register(registry, tags, "refused", "Deliveries that this subscriber has refused",
        SubscriberStats::refused);
    counters.register(registry, tags, "dropped", "Delivered messages that the full mailbox of this subscriber dropped",
        SubscriberStats::dropped);
    return counters;
  }

  void close() {
    lock.lock();
    try {
      isClosed = true;
      shown.values().forEach(counters -> counters.registered.remove());
      shown.clear();
    } finally {
      lock.unlock();
    }
  }
}
