package io.fibry.micrometer;

import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counters of the open subscriptions of a topic in one registry, with the tag {@code subscriber}.
 * They exist for the names in the samples of the topic. Thread-safe.
 *
 * <p>The counters appear and disappear when the registry reads a meter of the topic. A thread that
 * finds another thread changing them does not wait, because it may have locked the registry, which
 * the other thread needs.
 */
final class SubscriberMeters {
  private final MeterRegistry registry;
  private final Tags tags;
  private final CachedSample<TopicCounts> samples;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, SubscriberCounters> counters = new HashMap<>(); // guarded by the lock
  private volatile @Nullable TopicCounts shown; // written with the lock; null: none
  private boolean isClosed; // guarded by the lock

  /**
   * The topic at one moment.
   *
   * @param subscribers the sums of open subscriptions by their names
   */
  record TopicCounts(TopicStats stats, Map<String, SubscriberStats> subscribers) {}

  /** The counters of one name. */
  private final class SubscriberCounters {
    private final BoundMeters registered = new BoundMeters();
    private volatile SubscriberStats last; // written with the lock, read by the registry

    SubscriberCounters(SubscriberStats first) {
      last = first;
      register("delivered", "Deliveries that this subscriber has accepted", SubscriberStats::delivered);
      register("refused", "Deliveries that this subscriber has refused", SubscriberStats::refused);
      register("dropped", "Delivered messages that the full mailbox of this subscriber dropped",
          SubscriberStats::dropped);
    }

    private void register(String suffix, String description, ToLongFunction<SubscriberStats> count) {
      registered.count(registry, "fibry.topic.subscriber." + suffix, tags.and("subscriber", last.name()), description,
          () -> count.applyAsLong(stats()));
    }

    /** Returns the last counts if the subscription has ended. */
    private SubscriberStats stats() {
      var name = last.name();
      return sample().subscribers().getOrDefault(name, last);
    }
  }

  SubscriberMeters(MeterRegistry registry, Tags tags, CachedSample<TopicCounts> samples) {
    this.registry = registry;
    this.tags = tags;
    this.samples = samples;
  }

  /** Returns the sample of the topic, after there are counters for its subscribers. */
  TopicCounts sample() {
    var sample = samples.sample();
    if (sample != shown && lock.tryLock()) try {
      if (!isClosed) show(sample);
      shown = sample;
    } finally {
      lock.unlock();
    }
    return sample;
  }

  private void show(TopicCounts sample) {
    for (var name : new HashSet<>(counters.keySet()))
      if (!sample.subscribers().containsKey(name)) counters.remove(name).registered.remove();
    sample.subscribers().forEach((name, stats) -> {
      var ofName = counters.get(name);
      if (ofName == null) counters.put(name, new SubscriberCounters(stats));
      else ofName.last = stats;
    });
  }

  void close() {
    lock.lock();
    try {
      isClosed = true;
      counters.values().forEach(ofName -> ofName.registered.remove());
      counters.clear();
    } finally {
      lock.unlock();
    }
  }
}
