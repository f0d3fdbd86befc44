package io.fibry.bench.durable;

import io.fibry.bench.report.ResultRow;
import java.util.List;
import java.util.Locale;

/**
 * A promise about the median of our side: a bound on the median itself, or on its ratio to the
 * median of another side.
 *
 * @param quantity the promised quantity, in words
 * @param ourSide the name of our side
 * @param otherSide the name of the other side; empty if the bound is on our median itself
 * @param size the size of both sides, as in {@link RoundMeasurements}
 * @param isMinimum whether {@code bound} is a lower bound; otherwise it is an upper bound
 * @param bound the bound: the promise is broken if the value is beyond it
 * @param aim the value that we want to reach; it is printed, and never checked
 */
record MeasurementBudget(String quantity, String ourSide, String otherSide, long size, boolean isMinimum, double bound,
    double aim) {

  static MeasurementBudget atLeast(double bound, double aim, String quantity, String ourSide, String otherSide) {
    return new MeasurementBudget(quantity, ourSide, otherSide, 0, true, bound, aim);
  }

  static MeasurementBudget atMost(double bound, double aim, String quantity, String ourSide, String otherSide) {
    return new MeasurementBudget(quantity, ourSide, otherSide, 0, false, bound, aim);
  }

  MeasurementBudget withSize(long size) {
    return new MeasurementBudget(quantity, ourSide, otherSide, size, isMinimum, bound, aim);
  }

  /** Returns the promised quantity, computed from the measurements of one process. */
  double value(List<RoundMeasurements> measurements) {
    double value = measurement(measurements, ourSide).median();
    return otherSide.isEmpty() ? value : value / measurement(measurements, otherSide).median();
  }

  private RoundMeasurements measurement(List<RoundMeasurements> measurements, String side) {
    return measurements.stream().filter(candidate -> candidate.side().equals(side) && candidate.size() == size)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(
            "'" + quantity + "' needs the side '" + side + "', which was not measured"));
  }

  /** Returns the median over the processes, with the verdict whether the promise is kept. */
  ResultRow judge(List<List<RoundMeasurements>> processes) {
    var values = processes.stream().mapToDouble(this::value).sorted().toArray();
    double median = ResultRow.median(values);
    String unit =
        otherSide.isEmpty() ? measurement(processes.getFirst(), ourSide).unit() : "x of \"" + otherSide + "\"";
    return new ResultRow(quantity, unit, median, values[0], values[values.length - 1], String.format(Locale.ROOT,
        "at %s %s, aim %s: %s", isMinimum ? "least" : "most", ResultRow.readable(bound), ResultRow.readable(aim),
        isKept(median) ? "kept" : "BROKEN"), 0);
  }

  boolean isKept(double value) {
    return isMinimum ? value >= bound : value <= bound;
  }
}
