package io.fibry.bench.report;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Declares the sides of one or more results. Some sides of Fibry are bases, with which the other
 * sides are compared.
 *
 * @param resultPattern matches the names of the results
 * @param title the compared quantity, in words; {@code $1} is the first group of the pattern
 * @param sides all sides that may have a row in the results
 * @param bases names of base sides; for each unit and size, exactly one of them has a row
 * @param sizeNoun a noun for the things that a size counts; empty if the results have no sizes
 */
record Comparison(Pattern resultPattern, String title, List<Side> sides, List<String> bases, String sizeNoun) {
  // suffixes of results that are no average time: allocated memory, and other modes of JMH
  private static final Pattern SUFFIX = Pattern.compile("-(allocated|thrpt|sample|ss)$");

  Comparison {
    for (var base : bases) if (sides.stream().noneMatch(side -> side.isOurs() && side.name().equals(base)))
      throw new IllegalArgumentException("the base '" + base + "' of " + resultPattern + " is no side of ours");
  }

  static Comparison of(String resultPattern, String title, List<Side> sides, String... bases) {
    return new Comparison(Pattern.compile(resultPattern), title, sides, List.of(bases), "");
  }

  Comparison withSizes(String noun) {
    return new Comparison(resultPattern, title, sides, bases, noun);
  }

  boolean covers(String result) {
    return resultPattern.matcher(withoutSuffix(result)).matches();
  }

  private static String withoutSuffix(String result) {
    return SUFFIX.matcher(result).replaceFirst("");
  }

  String title(String result) {
    String words = resultPattern.matcher(withoutSuffix(result)).replaceAll(title);
    return result.endsWith("-allocated") ? words + ": memory allocated" : words;
  }

  /** Returns the side of this name; throws if it is not declared. */
  Side side(String name) {
    return sides.stream().filter(side -> side.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalStateException("'" + name + "' is no declared side of " + resultPattern
            + "; declare it in Comparisons"));
  }

  boolean isBase(ResultRow row) {
    return bases.contains(row.side());
  }

  /**
   * Returns the base row with which this row is compared: the row itself if it is a base, otherwise
   * the base of the same unit and size. Throws unless this row is a base, or has exactly one base.
   */
  ResultRow base(ResultRow row, List<ResultRow> rows) {
    if (isBase(row)) return row;
    var candidates = rows.stream()
        .filter(candidate -> isBase(candidate) && candidate.unit().equals(row.unit())
            && candidate.size() == row.size())
        .toList();
    if (candidates.size() == 1) return candidates.getFirst();
    throw new IllegalStateException(
        "of the bases " + bases + " of " + resultPattern + ", " + candidates.size() + " have measurements in "
            + row.unit() + (row.size() > 0 ? " for size " + row.size() : "") + ", but '" + row.side()
            + "' needs exactly one such base; measure the base too, or change Comparisons");
  }
}
