package io.fibry.bench.durable;

import io.fibry.bench.report.ResultRow;
import java.util.List;
import java.util.Locale;

/**
 * What a figure of ours must be, as many times that of another side; by itself, if there is none.
 *
 * @param other a side, or empty
 * @param size of both
 * @param minRatio whether it must be {@code must} at least, or at most
 */
record FigureBudget(String what, String ours, String other, long size, boolean minRatio, double must, double aim) {

  static FigureBudget atLeast(double must, double aim, String what, String ours, String other) {
    return new FigureBudget(what, ours, other, 0, true, must, aim);
  }

  static FigureBudget atMost(double must, double aim, String what, String ours, String other) {
    return new FigureBudget(what, ours, other, 0, false, must, aim);
  }

  FigureBudget withSize(long of) {
    return new FigureBudget(what, ours, other, of, minRatio, must, aim);
  }

  /** In one process. */
  double value(List<RoundFigures> figures) {
    double value = figure(figures, ours).median();
    return other.isEmpty() ? value : value / figure(figures, other).median();
  }

  private RoundFigures figure(List<RoundFigures> figures, String side) {
    return figures.stream().filter(one -> one.side().equals(side) && one.size() == size).findFirst()
        .orElseThrow(() -> new IllegalStateException("'" + what + "' needs '" + side + "', of which there is none"));
  }

  /** Judges the median of several processes. */
  ResultRow judge(List<List<RoundFigures>> processes) {
    var values = processes.stream().mapToDouble(this::value).sorted().toArray();
    double middle = values[values.length / 2];
    String unit = other.isEmpty() ? figure(processes.getFirst(), ours).unit() : "x of " + other;
    return new ResultRow(what, unit, middle, values[0], values[values.length - 1], String.format(Locale.ROOT,
        "at %s %s, aim %s: %s", minRatio ? "least" : "most", ResultRow.readable(must), ResultRow.readable(aim),
        isKept(middle) ? "kept" : "BROKEN"), 0);
  }

  boolean isKept(double value) {
    return minRatio ? value >= must : value <= must;
  }
}
