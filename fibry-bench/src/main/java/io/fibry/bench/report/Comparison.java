package io.fibry.bench.report;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The declaration of a result: its subject, the owners of its sides, and the sides of ours with
 * which the others are compared.
 *
 * @param question a pattern of the names of its results
 * @param title the compared quantity, in words; {@code $1} is the first group of the question
 * @param bases of each unit and size, one has a figure
 * @param sizes what a size counts; empty if the question is asked for one
 */
record Comparison(Pattern question, String title, List<Side> sides, List<String> bases, String sizes) {
  // what JMH measures beside the time of an operation, and its other modes
  private static final Pattern MEASURE = Pattern.compile("-(allocated|thrpt|sample|ss)$");

  Comparison {
    for (var base : bases) if (sides.stream().noneMatch(side -> side.isOurs() && side.name().equals(base)))
      throw new IllegalArgumentException("the base '" + base + "' of " + question + " is no side of ours");
  }

  static Comparison of(String question, String title, List<Side> sides, String... bases) {
    return new Comparison(Pattern.compile(question), title, sides, List.of(bases), "");
  }

  Comparison withSizes(String counted) {
    return new Comparison(question, title, sides, bases, counted);
  }

  boolean covers(String result) {
    return question.matcher(declared(result)).matches();
  }

  private static String declared(String result) {
    return MEASURE.matcher(result).replaceFirst("");
  }

  String title(String result) {
    String words = question.matcher(declared(result)).replaceAll(title);
    return result.endsWith("-allocated") ? words + ": memory allocated" : words;
  }

  /** Throws if the side is not declared. */
  Side side(String name) {
    return sides.stream().filter(side -> side.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalStateException("'" + name + "' is no declared side of " + question
            + "; say in Comparisons whose it is, and what"));
  }

  boolean isBase(ResultRow row) {
    return bases.contains(row.side());
  }

  /**
   * Returns the row with which this row is compared: the base of its unit and size. Throws unless
   * there is one.
   */
  ResultRow base(ResultRow row, List<ResultRow> rows) {
    if (isBase(row)) return row;
    var found = rows.stream()
        .filter(other -> isBase(other) && other.unit().equals(row.unit()) && other.size() == row.size()).toList();
    if (found.size() == 1) return found.getFirst();
    throw new IllegalStateException(
        "of the bases " + bases + " of " + question + ", " + found.size() + " have figures in "
            + row.unit() + (row.size() > 0 ? " for size " + row.size() : "") + ", and '" + row.side()
            + "' is compared with exactly one; measure it too, or change Comparisons");
  }
}
