package io.fibry.dashboard;

import io.fibry.pubsub.Topic;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A panel with the messages of a topic and of its subscribers. */
record TopicPanel(Topic<?> topic) implements Panel {
  private static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

  /**
   * The messages that a subscriber has lost.
   *
   * @param sinceLost nanoseconds since the dashboard saw that the count had risen, at most
   * {@link ActorTrend#LONG_AGO}
   */
  record Loss(long count, long sinceLost) {
    static final Loss NONE = new Loss(0, ActorTrend.LONG_AGO);

    boolean isRecent() {
      return sinceLost < RECENT_NANOS;
    }

    Loss next(long nextCount, long elapsedNanos) {
      return new Loss(nextCount, ActorTrend.since(nextCount > count, sinceLost, elapsedNanos));
    }
  }

  /**
   * A subscriber at one moment.
   *
   * @param waiting messages in its mailbox; empty if no actor of the snapshot has its name, or
   * several do
   */
  private record SubscriberRow(SubscriberStats stats, Loss loss, Optional<Long> waiting) {
    Map<String, Object> asMap() {
      return JsonText.object("name", stats.name(), "delivered", stats.delivered(), "lost", loss.count, "waiting",
          waiting.<Object>map(count -> count).orElse(Double.NaN), "isLosing", loss.isRecent());
    }
  }

  /**
   * A topic at one moment. Subscribers with equal names are one subscriber.
   *
   * @param total the losses of all subscribers, also of ended subscribers
   * @param losses the losses of subscribers that have lost messages, by name
   */
  record TopicSample(Loss total, Map<String, Loss> losses, Map<String, Object> map) implements PanelSample {
    static final int MAX_ROWS = 20;

    /** Orders subscribers that lose messages first, then by lost and by waiting messages. */
    private static final Comparator<SubscriberRow> BY_URGENCY =
        Comparator.comparing((SubscriberRow row) -> row.loss.isRecent())
            .thenComparing((SubscriberRow row) -> row.loss.count)
            .thenComparing((SubscriberRow row) -> row.waiting.orElse(0L)).reversed();

    static TopicSample of(String title, TopicStats stats, List<SubscriberStats> subscribers, List<ActorRow> actors,
        Optional<TopicSample> previous, long elapsedNanos) {
      var statsByName = new LinkedHashMap<String, SubscriberStats>();
      for (var subscriber : subscribers) statsByName.merge(subscriber.name(), subscriber, SubscriberStats::plus);
      var waiting = waiting(actors, statsByName.keySet());
      var rows = statsByName.values().stream().map(subscriber -> new SubscriberRow(subscriber,
          loss(subscriber.refused() + subscriber.dropped(),
              previous.map(sample -> sample.losses.getOrDefault(subscriber.name(), Loss.NONE)), elapsedNanos),
          waiting.getOrDefault(subscriber.name(), Optional.empty())))
          .sorted(BY_URGENCY).toList();
      var losses = new HashMap<String, Loss>();
      for (var row : rows) if (row.loss.count > 0) losses.put(row.stats.name(), row.loss);
      var total = loss(stats.refused() + stats.dropped(), previous.map(TopicSample::total), elapsedNanos);
      return new TopicSample(total, losses, JsonText.object("title", title, "published", stats.published(), "delivered",
          stats.delivered(), "lost", total.count, "waiting",
          rows.stream().flatMap(row -> row.waiting.stream()).mapToLong(Long::longValue).sum(), "subscriberCount",
          stats.subscribers(), "isLosing", total.isRecent(), "subscribers",
          rows.stream().limit(MAX_ROWS).map(SubscriberRow::asMap).toList()));
    }

    private static Loss loss(long count, Optional<Loss> previous, long elapsedNanos) {
      return previous.map(loss -> loss.next(count, elapsedNanos)).orElse(new Loss(count, ActorTrend.LONG_AGO));
    }

    /** Returns the waiting messages of each name that actors have; empty if several have it. */
    private static Map<String, Optional<Long>> waiting(List<ActorRow> actors, Collection<String> names) {
      var waiting = new HashMap<String, Optional<Long>>();
      for (var actor : actors)
        if (names.contains(actor.stats().name()))
          waiting.merge(actor.stats().name(), Optional.of(actor.stats().queued()), (one, other) -> Optional.empty());
      return waiting;
    }

    @Override
    public Map<String, Object> asMap() {
      return map;
    }
  }

  @Override
  public String title() {
    return topic.name();
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    return TopicSample.of(title(), topic.stats(), topic.subscribers(), input.rows(),
        previous.filter(TopicSample.class::isInstance).map(TopicSample.class::cast), elapsedNanos);
  }
}
