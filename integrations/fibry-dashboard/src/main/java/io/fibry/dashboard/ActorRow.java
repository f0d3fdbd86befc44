package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * An actor on the page.
 *
 * @param stats the statistics of the actor
 * @param scope the index of its scope in the list of scopes
 * @param trend how its counts have changed, and its problems
 */
record ActorRow(ActorStats stats, int scope, ActorTrend trend) {
  static final int MAX_ROWS = 500;
  static final int MAX_PROBLEM_ROWS = 250;
  private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

  /** The page always shows the actors with the highest values of each measure. */
  private static final List<ToDoubleFunction<ActorRow>> MEASURES = List.of(row -> row.stats.queued(),
      row -> row.stats.oldestWaiting().toNanos(), row -> row.trend.perSecond(), row -> row.stats.busyFor().toNanos(),
      row -> row.stats.failed(),
      row -> row.stats.refused() + row.stats.dropped());

  /** Orders rows by their most urgent problem, then by the time busy and the waiting messages. */
  static final Comparator<ActorRow> BY_URGENCY =
      Comparator.comparing((ActorRow row) -> row.problems().getFirst())
          .thenComparing(row -> row.stats.busyFor(), Comparator.reverseOrder())
          .thenComparing(row -> row.stats.queued(), Comparator.reverseOrder());

  /**
   * Returns at most {@link #MAX_ROWS} rows, in the given order. The result has the rows with
   * problems, and the rows with the highest values of each measure. Other rows fill the remaining
   * places, first the rows that are not folded.
   */
  static List<ActorRow> choose(List<ActorRow> rows, Predicate<ActorRow> isFolded) {
    if (rows.size() <= MAX_ROWS) return rows;
    var chosen = new BitSet(rows.size());
    IntStream.range(0, rows.size()).filter(i -> rows.get(i).hasProblem()).boxed()
        .sorted(Comparator.comparing(rows::get, BY_URGENCY)).limit(MAX_PROBLEM_ROWS).forEach(chosen::set);
    int maxOfMeasure = (MAX_ROWS - MAX_PROBLEM_ROWS) / MEASURES.size();
    for (var measure : MEASURES) IntStream.range(0, rows.size()).filter(i -> measure.applyAsDouble(rows.get(i)) > 0)
        .boxed().sorted(Comparator.comparingDouble((Integer i) -> -measure.applyAsDouble(rows.get(i))))
        .limit(maxOfMeasure).forEach(chosen::set);
    int remaining = MAX_ROWS - chosen.cardinality();
    for (int i = 0; i < rows.size() && remaining > 0; i++) if (!chosen.get(i) && !isFolded.test(rows.get(i))) {
      chosen.set(i);
      remaining--;
    }
    for (; remaining > 0; remaining--) chosen.set(chosen.nextClearBit(0));
    var result = new ArrayList<ActorRow>(MAX_ROWS);
    chosen.stream().forEach(i -> result.add(rows.get(i)));
    return result;
  }

  boolean hasProblem() {
    return !trend.problems().isEmpty();
  }

  /** Returns the problems of the actor, the most urgent first. */
  List<ActorProblem> problems() {
    return trend.problems().list();
  }

  /**
   * Returns whether the actor does nothing, and has done nothing for some seconds, so that the page
   * may fold it. A conversation that waits for its client does nothing, too.
   */
  boolean isQuiet() {
    return !hasProblem() && stats.queued() == 0 && stats.busyFor().isZero()
        && trend.sinceHandled() >= QUIET_NANOS && !ActorTrend.lacksThread(stats);
  }

  /** Returns whether the actor waits for a client, or handles an exchange of HTTP. */
  boolean isConnection() {
    return stats.state() == ActorState.AWAITING_STEP
        || stats.messageType().filter(type -> type.contains(" /")).isPresent();
  }

  /**
   * Returns the row as a JSON object.
   *
   * @param texts whether the activity may contain the text of a message
   * @param group the index of the group of idle actors that contains the row; -1 if none does
   */
  Map<String, Object> asMap(boolean texts, int group) {
    var map = JsonText.object("scope", scope, "name", stats.name(), "kind", stats.kind(), "waiting", stats.queued(),
        "handled", stats.handled(), "perSecond", rounded(trend.perSecond()), "failed", stats.failed(), "refused",
        stats.refused(), "dropped", stats.dropped(), "busyMillis", stats.busyFor().toMillis(), "busyExact",
        stats.isBusyForExact(), "state", stats.state().name().toLowerCase(Locale.ROOT), "doing",
        texts ? stats.activity() : withoutTexts(stats));
    stats.awaited().ifPresent(awaited -> map.put("awaits", awaited));
    if (stats.oldestWaiting().toMillis() > 0) map.put("oldestMillis", stats.oldestWaiting().toMillis());
    stats.capacity().ifPresent(capacity -> map.put("capacity", capacity));
    stats.overflow().ifPresent(overflow -> map.put("overflow", overflow.name().toLowerCase(Locale.ROOT)));
    trend.problems().addTo(map);
    if (trend.recentFailures() > 0) {
      map.put("recentFailures", trend.recentFailures());
      map.put("failedMillisAgo", trend.failures().sinceNanos() / 1_000_000);
      map.put("failedInMillis", trend.failures().periodMillis());
      stats.lastFailure().ifPresent(failure -> map.put("failedAt", failure.time()));
    }
    if (trend.losses().isRecent()) {
      map.put("refusedRecently", trend.refusedRecently());
      map.put("droppedRecently", trend.droppedRecently());
      map.put("lostInMillis", trend.losses().periodMillis());
    }
    if (stats.expired() > 0) map.put("expired", stats.expired());
    if (trend.expirations().isRecent()) {
      map.put("expiredRecently", trend.expiredRecently());
      map.put("expiredInMillis", trend.expirations().periodMillis());
    }
    if (problems().contains(ActorProblem.GROWING)) {
      map.put("grewRecently", trend.grewRecently());
      map.put("grewInMillis", trend.growth().periodMillis());
    }
    if (stats.restarted() > 0) map.put("restarted", stats.restarted());
    if (group >= 0) map.put("group", group);
    return map;
  }

  /**
   * Describes the current activity without the text of a message. Names of actors and the class of
   * the message are shown.
   */
  static String withoutTexts(ActorStats stats) {
    if (stats.maxWorkers() > 0) // the activity of a pool has no text of a message
      return stats.activity() + stats.messageType().map(type -> ", for longest with " + type).orElse("");
    return switch (stats.state()) {
      case IDLE -> "idle";
      case READY -> "about to begin";
      case BUSY -> "handles " + stats.messageType().orElse("a message");
      case AWAITING_ACTOR -> "waits for '" + stats.awaited().orElse("") + "'"
          + stats.messageType().map(type -> " in " + type).orElse("");
      case AWAITING_STEP -> "waits";
      case SUSPENDED -> "is suspended after a failure";
      case ENDING -> "ends";
      case CUT_OFF -> "cut off, its handler still runs";
    };
  }

  static double rounded(double number) {
    return Double.isFinite(number) ? Math.round(number * 10) / 10.0 : number;
  }
}
