package io.fibry.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import java.util.Locale;

/**
 * The measurements of one side. More is better if the unit ends with {@code /s}, begins with
 * {@code ops/}, or is {@code live}; otherwise less is.
 *
 * @param side its name; {@code Comparisons} says whose it is
 * @param reference a published figure, or what must be reached; may be empty
 * @param size how many, if the question is asked for several sizes; otherwise 0
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
    return new ResultRow(side, unit, sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1], reference, 0);
  }

  public ResultRow withSize(long size) {
    return new ResultRow(side, unit, median, least, most, reference, size);
  }

  boolean moreIsBetter() {
    return unit.endsWith("/s") || unit.startsWith("ops/") || unit.equals("live");
  }

  /** How many times as much this one costs; above 1, the other is better. */
  public double costAgainst(ResultRow other) {
    return moreIsBetter() ? other.median / median : median / other.median;
  }

  /** The value with three significant digits; a dash if it is no number. */
  public static String readable(double value) {
    if (!Double.isFinite(value)) return "-";
    double size = Math.abs(value);
    return String.format(Locale.ROOT,
        size == 0 || size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : size >= 0.01 ? "%.3f" : "%.1e",
        value);
  }
}
