package io.fibry.opentelemetry;

import io.fibry.pubsub.Topic.SubscriberStats;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The counts of the open subscriptions of a topic, by name. It has at most the oldest {@value #MAX}
 * names, so that a topic with a subscriber for each client has few metrics. Immutable.
 */
record SubscriberSums(Map<String, SubscriberStats> byName) {
  private static final int MAX = 20;

  static SubscriberSums of(List<SubscriberStats> subscribers) {
    var sums = new LinkedHashMap<String, SubscriberStats>();
    for (var stats : subscribers)
      if (sums.size() < MAX || sums.containsKey(stats.name())) sums.merge(stats.name(), stats, SubscriberStats::plus);
    return new SubscriberSums(sums);
  }

  void record(ObservableLongMeasurement counter, Attributes ofTopic, ToLongFunction<SubscriberStats> count) {
    byName.forEach((name, stats) -> counter.record(count.applyAsLong(stats),
        ofTopic.toBuilder().put("subscriber", name).build()));
  }
}
