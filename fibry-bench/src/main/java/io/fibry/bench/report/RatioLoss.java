package io.fibry.bench.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A row of a side that is not Fibry's, and its cost as a ratio to the base row of Fibry. */
record RatioLoss(Result result, ResultRow row, double cost) {
  static final double REPORTED_BELOW = 0.95; // ratios above it are not reported

  /**
   * Returns a table of the rows that are more than 5 % better than their base row, the lowest ratio
   * first; an empty text if there are none.
   */
  static String table(List<Result> results, Map<String, String> pages) {
    var tableRows = losses(results).sorted(Comparator.comparingDouble(RatioLoss::cost))
        .map(loss -> loss.tableRow(pages))
        .collect(Collectors.joining());
    return tableRows.isEmpty() ? "" : "| question | side | what it is | cost |\n|---|---|---|--:|\n" + tableRows;
  }

  /** Returns a sentence that says how many rows the table has. */
  static String count(List<Result> results) {
    return String.format(Locale.ROOT,
        "In [%,d of %,d measurements](benchmarks/losses.md), a variant without Fibry is better by more than 5 %%.\n",
        losses(results).count(), comparedRows(results).count());
  }

  private static Stream<RatioLoss> losses(List<Result> results) {
    return comparedRows(results).filter(row -> row.cost < REPORTED_BELOW);
  }

  private static Stream<RatioLoss> comparedRows(List<Result> results) {
    return results.stream().filter(result -> !result.isPromise())
        .flatMap(result -> result.rows().stream().filter(row -> !result.side(row).isOurs())
            .map(row -> new RatioLoss(result, row, row.costAgainst(result.base(row)))));
  }

  private String tableRow(Map<String, String> pages) {
    return "| " + PeerComparison.link(result.name(), result.question(), pages)
        + (row.size() > 0 ? String.format(Locale.ROOT, ", %,d", row.size()) : "") + " | " + row.side() + " | "
        + result.side(row).description() + " | " + ResultRow.readable(cost) + " |\n";
  }
}
