package io.fibry.dashboard;

import io.fibry.pubsub.Topic;
import io.fibry.pubsub.Topic.TopicStats;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A panel with the messages of a topic, and of the subscribers that the topic has made. */
record TopicPanel(Topic<?> topic) implements Panel {
  static final int MAX_ROWS = 20;

  /** Orders subscribers that lose messages first, then by the number of waiting messages. */
  private static final Comparator<ActorRow> BY_URGENCY =
      Comparator.comparing((ActorRow row) -> row.stats().refused(), Comparator.reverseOrder())
          .thenComparing(row -> row.stats().queued(), Comparator.reverseOrder());

  @Override
  public String title() {
    return topic.name();
  }

  @Override
  public boolean hasTrend() {
    return false;
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    var map = map(title(), topic.stats(),
        input.rows().stream().filter(row -> row.stats().name().startsWith(title() + "/")).toList());
    return () -> map;
  }

  /**
   * Returns a JSON object. A message that a mailbox accepts and drops later counts as lost, and not
   * as delivered.
   */
  static Map<String, Object> map(String title, TopicStats stats, List<ActorRow> subscribers) {
    long lostByActors = subscribers.stream().mapToLong(row -> row.stats().refused()).sum();
    long lost = Math.max(stats.refused(), lostByActors);
    return JsonText.object("title", title, "published", stats.published(), "delivered",
        Math.max(0, stats.delivered() + stats.refused() - lost), "lost", lost, "waiting",
        subscribers.stream().mapToLong(row -> row.stats().queued()).sum(), "subscriberCount", stats.subscribers(),
        "subscribers", subscribers.stream().sorted(BY_URGENCY).limit(MAX_ROWS).map(TopicPanel::map).toList());
  }

  private static Map<String, Object> map(ActorRow row) {
    return JsonText.object("name", row.stats().name(), "delivered", row.stats().handled(), "lost",
        row.stats().refused(), "waiting", row.stats().queued(), "isLosing",
        row.problems().contains(ActorProblem.FULL));
  }
}
