package io.fibry.bench.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import java.util.Locale;

/**
 * What one side took. A unit that ends with {@code /s} or begins with {@code ops/} is a rate, and
 * {@code live} counts what was alive: more is better. Of all other units less is.
 *
 * @param side who
 * @param unit of the figures
 * @param median of the rounds
 * @param least of the rounds
 * @param most of the rounds
 * @param reference the published figure, or what must be reached; may be empty
 * @param size how many, where the question is asked for several sizes; otherwise 0
 */
public record Row(String side, String unit, double median, double least, double most,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) String reference,
    @JsonInclude(JsonInclude.Include.NON_DEFAULT) long size) {

  /** A file need not have all. */
  public Row {
    reference = reference == null ? "" : reference;
  }

  /**
   * A row of the rounds.
   *
   * @param side who
   * @param unit of the figures
   * @param reference the published figure, or empty
   * @param rounds at least one
   * @return the row
   */
  public static Row of(String side, String unit, String reference, double... rounds) {
    double[] sorted = rounds.clone();
    Arrays.sort(sorted);
    return new Row(side, unit, sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1], reference, 0);
  }

  /**
   * The same, for a size.
   *
   * @param size how many
   * @return the row
   */
  public Row withSize(long size) {
    return new Row(side, unit, median, least, most, reference, size);
  }

  /**
   * Whether more is better.
   *
   * @return true for rates and counts
   */
  @JsonIgnore
  public boolean moreIsBetter() {
    return unit.endsWith("/s") || unit.startsWith("ops/") || unit.equals("live");
  }

  /**
   * How many times as much this one costs.
   *
   * @param other who is compared with
   * @return above 1: the other is the better one
   */
  public double costAgainst(Row other) {
    return moreIsBetter() ? other.median / median : median / other.median;
  }

  /**
   * A number that can be read: three digits that count; a dash if it is none.
   *
   * @param value what
   * @return its text
   */
  public static String readable(double value) {
    if (!Double.isFinite(value)) return "-";
    double size = Math.abs(value);
    return String.format(Locale.ROOT,
        size == 0 || size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : size >= 0.01 ? "%.3f" : "%.1e",
        value);
  }
}
