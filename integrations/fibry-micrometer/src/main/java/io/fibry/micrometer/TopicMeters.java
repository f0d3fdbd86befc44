package io.fibry.micrometer;

import io.fibry.micrometer.SubscriberMeters.TopicCounts;
import io.fibry.pubsub.SubscriberTotals;
import io.fibry.pubsub.Topic;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Meters of a topic, with the tag {@code topic}: the counters {@code fibry.topic.published},
 * {@code fibry.topic.delivered}, {@code fibry.topic.refused} and {@code fibry.topic.dropped}, and
 * the gauge {@code fibry.topic.subscribers}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.BlockMetersTest" region="topic"}
 *
 * <p>The counters {@code fibry.topic.subscriber.delivered}, {@code fibry.topic.subscriber.refused}
 * and {@code fibry.topic.subscriber.dropped} have the further tag {@code subscriber}, the name of
 * the actor. They exist for the names of the oldest 20 open subscriptions, and appear one read
 * after the subscription. All meters of a read show the topic at one moment.
 *
 * <p>The meters refer to the topic, so the topic cannot become garbage before {@link #close}. After
 * the topic has ended, the counters keep their last values.
 */
public final class TopicMeters implements MeterBinder, AutoCloseable {
  /** For so many names there are counters, so that a subscriber for each client is no flood. */
  private static final int MAX_SUBSCRIBERS = 20;

  private final Tags tags;
  private final Topic<?> topic;
  private final BoundMeters registered = new BoundMeters();
  private final List<SubscriberMeters> subscriberMeters = new ArrayList<>(); // guarded by the monitor

  /**
   * Makes meters with the tag {@code topic}.
   *
   * @param topic the topic, whose name is the value of the tag
   */
  public TopicMeters(Topic<?> topic) {
    this(topic, Tags.empty());
  }

  /**
   * Makes meters with the tag {@code topic} and the given tags.
   *
   * @param topic the topic, whose name is the value of the tag
   * @param tags more tags of all meters
   */
  public TopicMeters(Topic<?> topic, Iterable<Tag> tags) {
    this.tags = Tags.of("topic", topic.name()).and(tags);
    this.topic = topic;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var totals = SubscriberTotals.of(topic, MAX_SUBSCRIBERS);
    var samples = new CachedSample<>(() -> new TopicCounts(topic.stats(), totals.read().stream()
        .collect(Collectors.toUnmodifiableMap(SubscriberStats::name, sum -> sum))), registry.config().clock());
    var ofSubscribers = new SubscriberMeters(registry, tags, samples);
    synchronized (this) {
      subscriberMeters.add(ofSubscribers);
    }
    count(registry, ofSubscribers, "published", "Messages that were published", TopicStats::published);
    count(registry, ofSubscribers, "delivered", "Deliveries that subscribers have accepted", TopicStats::delivered);
    count(registry, ofSubscribers, "refused", "Deliveries that subscribers have refused", TopicStats::refused);
    count(registry, ofSubscribers, "dropped", "Delivered messages that full mailboxes of subscribers have dropped",
        TopicStats::dropped);
    registered.gauge(registry, "fibry.topic.subscribers", tags, "Open subscriptions",
        () -> ofSubscribers.sample().stats().subscribers());
  }

  private void count(MeterRegistry registry, SubscriberMeters samples, String suffix, String description,
      ToLongFunction<TopicStats> measure) {
    registered.count(registry, "fibry.topic." + suffix, tags, description,
        () -> measure.applyAsLong(samples.sample().stats()));
  }

  /** Removes the meters from their registries. */
  @Override
  public synchronized void close() {
    subscriberMeters.forEach(SubscriberMeters::close);
    subscriberMeters.clear();
    registered.remove();
  }
}
