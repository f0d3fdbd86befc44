package io.fibry.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import java.util.Locale;

/**
 * The measurements of one side. A greater value is better if the unit ends with {@code /s}, begins
 * with {@code ops/}, or is {@code live}; otherwise a smaller value is.
 *
 * @param side the name of the side; {@code Comparisons} says whether it is Fibry's
 * @param reference a published value, or the bound of a promise; empty if there is neither
 * @param size the size of the measurement, if the question has several sizes; otherwise 0
 */
public record ResultRow(String side, String unit, double median, double least, double most,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) String reference,
    @JsonInclude(JsonInclude.Include.NON_DEFAULT) long size) {

  public ResultRow {
    reference = reference == null ? "" : reference;
  }

  public static ResultRow of(String side, String unit, String reference, double... rounds) {
    double[] sorted = rounds.clone();
    Arrays.sort(sorted);
    return new ResultRow(side, unit, median(sorted), sorted[0], sorted[sorted.length - 1], reference, 0);
  }

  /** Returns the middle value; of an even number of values, the mean of the two in the middle. */
  public static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  public ResultRow withSize(long size) {
    return new ResultRow(side, unit, median, least, most, reference, size);
  }

  boolean isMoreBetter() {
    return unit.endsWith("/s") || unit.startsWith("ops/") || unit.equals("live");
  }

  /**
   * Returns the cost of this row as a multiple of the cost of {@code other}; above 1, {@code other}
   * is better.
   */
  public double costAgainst(ResultRow other) {
    return isMoreBetter() ? other.median / median : median / other.median;
  }

  /** Returns a short text for the value, or a dash if it is infinite or no number. */
  public static String readable(double value) {
    if (!Double.isFinite(value)) return "-";
    double abs = Math.abs(value);
    return String.format(Locale.ROOT,
        abs == 0 || abs >= 100 ? "%,.0f" : abs >= 10 ? "%.1f" : abs >= 1 ? "%.2f" : abs >= 0.01 ? "%.3f" : "%.1e",
        value);
  }
}
