package io.fibry.dashboard;

import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A panel with the health of a store of durable actors. */
record StorePanel(String name, FolderStore store) implements Panel {

  /**
   * The health of a store at one moment. The times are nanoseconds since the dashboard saw the
   * event, and at most {@link ActorTrend#LONG_AGO}.
   *
   * @param sinceRefused since a count of refused turns that was higher than the count before
   * @param sinceParked since a count of parked messages that was higher than the count before
   * @param turnsPerSecond since the previous sample; NaN without it
   */
  record StoreSample(String title, FolderStore.Health health, long sinceRefused, long sinceParked,
      double turnsPerSecond) implements PanelSample {
    private static final long RECENT_NANOS = Duration.ofMinutes(1).toNanos();

    static StoreSample first(String title, FolderStore.Health health) {
      return new StoreSample(title, health, ActorTrend.LONG_AGO, ActorTrend.LONG_AGO, Double.NaN);
    }

    StoreSample next(FolderStore.Health next, long elapsedNanos) {
      return new StoreSample(title, next,
          ActorTrend.since(next.refusedTurns() > health.refusedTurns(), sinceRefused, elapsedNanos),
          ActorTrend.since(next.parkedMessages() > health.parkedMessages(), sinceParked, elapsedNanos),
          ActorTrend.perSecond(next.turns() - health.turns(), elapsedNanos));
    }

    List<String> problems() {
      var problems = new ArrayList<String>();
      if (health.isBroken()) problems.add("broken");
      if (health.isFull()) problems.add("full");
      if (sinceRefused < RECENT_NANOS) problems.add("refusing");
      if (sinceParked < RECENT_NANOS) problems.add("parking");
      return problems;
    }

    @Override
    public Map<String, Object> asMap() {
      var values = JsonText.object("turns", health.turns(), "turns per second",
          ActorRow.rounded(turnsPerSecond), "refused turns", health.refusedTurns(), "pending writes",
          health.pendingWrites(), "pending messages", health.pendingMessages(), "due messages", health.dueMessages(),
          "parked messages",
          health.parkedMessages(), "actors", health.actors(), "last sync in ms",
          ActorRow.rounded(health.syncs().last().toNanos() / 1e6), "size in MB",
          ActorRow.rounded(health.bytes() / 1e6));
      if (!health.tornFiles().isEmpty()) values.put("torn files", health.tornFiles().size());
      return Panel.map(title, values, problems());
    }
  }

  @Override
  public String title() {
    return "store " + name;
  }

  @Override
  public PanelSample sample(Optional<PanelSample> previous, long elapsedNanos, PanelInput input) {
    var health = store.health();
    return previous.filter(StoreSample.class::isInstance)
        .map(sample -> ((StoreSample) sample).next(health, elapsedNanos))
        .orElseGet(() -> StoreSample.first(title(), health));
  }
}
