package io.fibry.bench.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A figure of another side, and its ratio to that of ours with which it is compared. */
record RatioLoss(Result result, ResultRow row, double cost) {
  static final double LEVEL = 0.95; // differences above it are not told

  /** Where another side is better than ours, the worst first; empty if there is none. */
  static String table(List<Result> results, Map<String, String> pages) {
    var lines = all(results).sorted(Comparator.comparingDouble(RatioLoss::cost)).map(loss -> loss.line(pages))
        .collect(Collectors.joining());
    return lines.isEmpty() ? "" : "| question | side | what it is | cost |\n|---|---|---|--:|\n" + lines;
  }

  /** The table in a sentence. */
  static String count(List<Result> results) {
    return String.format(Locale.ROOT,
        "Another side is better in [%,d of %,d figures](benchmarks/losses.md), by more than 5 %%.\n",
        all(results).count(), others(results).count());
  }

  private static Stream<RatioLoss> all(List<Result> results) {
    return others(results).filter(other -> other.cost < LEVEL);
  }

  private static Stream<RatioLoss> others(List<Result> results) {
    return results.stream().filter(result -> !result.isPromise())
        .flatMap(result -> result.rows().stream().filter(row -> !result.side(row).isOurs())
            .map(row -> new RatioLoss(result, row, row.costAgainst(result.base(row)))));
  }

  private String line(Map<String, String> pages) {
    return "| " + PeerComparison.link(result.name(), result.question(), pages)
        + (row.size() > 0 ? String.format(Locale.ROOT, ", %,d", row.size()) : "") + " | " + row.side() + " | "
        + result.side(row).words() + " | " + ResultRow.readable(cost) + " |\n";
  }
}
