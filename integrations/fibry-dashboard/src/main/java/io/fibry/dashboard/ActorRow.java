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
 * @param figures the last measurement of the actor
 * @param scope the place of its scope in the list of scopes
 * @param perSecond messages handled lately; NaN until it is known
 */
record ActorRow(ActorStats figures, int scope, double perSecond) {
  static final int MAX_ROWS = 500;

  /** The page is right about the first of each, however many actors there are. */
  private static final List<ToDoubleFunction<ActorRow>> MEASURES = List.of(row -> row.figures.queued(),
      row -> row.perSecond, row -> row.figures.busyFor().toNanos(), row -> row.figures.failed());

  private static final Pattern AT_WORK = Pattern.compile("\\d+ of \\d+ at work");

  /** Those that do most, in the order given. */
  static List<ActorRow> choose(List<ActorRow> rows) {
    if (rows.size() <= MAX_ROWS) return rows;
    var chosen = new BitSet(rows.size());
    for (var measure : MEASURES) IntStream.range(0, rows.size()).filter(i -> measure.applyAsDouble(rows.get(i)) > 0)
        .boxed().sorted(Comparator.comparingDouble((Integer i) -> -measure.applyAsDouble(rows.get(i))))
        .limit(MAX_ROWS / MEASURES.size()).forEach(chosen::set);
    for (int free = MAX_ROWS - chosen.cardinality(); free > 0; free--) chosen.set(chosen.nextClearBit(0));
    var few = new ArrayList<ActorRow>(MAX_ROWS);
    chosen.stream().forEach(i -> few.add(rows.get(i)));
    return few;
  }

  Map<String, Object> asMap(boolean texts) {
    return JsonText.object("scope", scope, "name", figures.name(), "kind", figures.kind(), "waiting", figures.queued(),
        "handled", figures.handled(), "perSecond", rounded(perSecond), "failed", figures.failed(), "busyMillis",
        figures.busyFor().toMillis(), "doing", texts ? figures.activity() : withoutTexts(figures.activity()));
  }

  /**
   * Describes the present activity without the text of a message. The sentences of the library
   * contain messages in places that a message could imitate. So no part is cut out, but only
   * sentences that are known to contain no message are kept.
   */
  static String withoutTexts(String doing) {
    return switch (doing) {
      case "idle", "is idle" -> "idle";
      case "rests after a failure", "ends", "is busy", "cut off, its handler still runs" -> doing;
      case "is between two messages", "was going on to its next message" -> "between messages";
      default -> {
        if (AT_WORK.matcher(doing).matches()) yield doing;
        if (doing.startsWith("waits for ")) yield "waits";
        if (doing.startsWith("was woken by ") || doing.startsWith("has been given no thread ")) yield "about to begin";
        yield "handles a message";
      }
    };
  }

  static double rounded(double number) {
    return Double.isFinite(number) ? Math.round(number * 10) / 10.0 : number;
  }
}
