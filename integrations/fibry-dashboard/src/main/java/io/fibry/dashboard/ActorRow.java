package io.fibry.dashboard;

import io.fibry.ActorStats;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * An actor on the page.
 *
 * @param stats the statistics of the actor
 * @param scope the index of its scope in the list of scopes
 * @param perSecond messages handled per second since the previous snapshot; NaN without a previous
 * snapshot
 */
record ActorRow(ActorStats stats, int scope, double perSecond) {
  static final int MAX_ROWS = 500;

  /** The page always shows the actors with the highest values of each measure. */
  private static final List<ToDoubleFunction<ActorRow>> MEASURES = List.of(row -> row.stats.queued(),
      row -> row.perSecond, row -> row.stats.busyFor().toNanos(), row -> row.stats.failed());

  private static final Pattern WORKERS_AT_WORK = Pattern.compile("\\d+ of \\d+ at work");

  /**
   * Returns at most {@link #MAX_ROWS} rows, in the given order. The result has the rows with the
   * highest values of each measure. The first of the other rows fill the remaining places.
   */
  static List<ActorRow> choose(List<ActorRow> rows) {
    if (rows.size() <= MAX_ROWS) return rows;
    var chosen = new BitSet(rows.size());
    for (var measure : MEASURES) IntStream.range(0, rows.size()).filter(i -> measure.applyAsDouble(rows.get(i)) > 0)
        .boxed().sorted(Comparator.comparingDouble((Integer i) -> -measure.applyAsDouble(rows.get(i))))
        .limit(MAX_ROWS / MEASURES.size()).forEach(chosen::set);
    for (int remaining = MAX_ROWS - chosen.cardinality(); remaining > 0; remaining--)
      chosen.set(chosen.nextClearBit(0));
    var result = new ArrayList<ActorRow>(MAX_ROWS);
    chosen.stream().forEach(i -> result.add(rows.get(i)));
    return result;
  }

  Map<String, Object> asMap(boolean texts) {
    return JsonText.object("scope", scope, "name", stats.name(), "kind", stats.kind(), "waiting", stats.queued(),
        "handled", stats.handled(), "perSecond", rounded(perSecond), "failed", stats.failed(), "busyMillis",
        stats.busyFor().toMillis(), "doing", texts ? stats.activity() : withoutTexts(stats.activity()));
  }

  /**
   * Describes the current activity without the text of a message. No part of a sentence is cut out,
   * because a message could imitate the library's words around it. Sentences that are known to
   * contain no message are returned, and all others are replaced.
   */
  static String withoutTexts(String activity) {
    return switch (activity) {
      case "idle", "is idle" -> "idle";
      case "is suspended after a failure", "ends", "is busy", "cut off, its handler still runs" -> activity;
      case "is between two messages", "was about to begin its next message" -> "between messages";
      default -> {
        if (WORKERS_AT_WORK.matcher(activity).matches()) yield activity;
        if (activity.startsWith("waits for ")) yield "waits";
        if (activity.startsWith("was woken by ") || activity.startsWith("has been given no thread "))
          yield "about to begin";
        yield "handles a message";
      }
    };
  }

  static double rounded(double number) {
    return Double.isFinite(number) ? Math.round(number * 10) / 10.0 : number;
  }
}
