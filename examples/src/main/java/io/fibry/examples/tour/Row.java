package io.fibry.examples.tour;

import java.util.List;
import java.util.Locale;

/** A measurement of Fibry and of its reference; {@code onCarriers} is NaN if not measured. */
public record Row(Unit unit, String ours, double value, double onCarriers, String theirs, double reference) {
  Row(Unit unit, String ours, double value, String theirs, double reference) {
    this(unit, ours, value, Double.NaN, theirs, reference);
  }

  /** The unit of a measurement, which decides how it is printed. */
  enum Unit {
    EACH, TOTAL, HEAP;

    private String text(double value) {
      return switch (this) {
        case EACH -> value < 1000 ? format("%.0f ns", value) : format("%,.1f us", value / 1000);
        case TOTAL -> format(value < 1e7 ? "%.1f ms" : "%,.0f ms", value / 1e6);
        case HEAP -> format("%,.0f bytes", value);
      };
    }
  }

  /** Returns this row with Fibry's value on carriers. */
  public Row withCarriers(double value) {
    return new Row(unit, ours, this.value, value, theirs, reference);
  }

  /** Returns how many of the measured operations are done in a second. */
  public double perSecond() {
    return 1e9 / value;
  }

  /** Prints each row with its reference and its sentence. */
  public static void print(List<Row> rows, List<String> sentences) {
    System.out.printf("%n%-56s %12s %12s   %s%n%s%n", "Fibry, and what it is measured against", "", "on carriers",
        "the reference takes", "-".repeat(105));
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      System.out.printf("%-56s %12s %12s   %s%n", row.ours, row.unit.text(row.value),
          Double.isNaN(row.onCarriers) ? "" : row.unit.text(row.onCarriers), row.ratio());
      System.out.printf("  %-54s %12s%n", row.theirs, row.unit.text(row.reference));
      System.out.printf("    -> %s%n", sentences.get(i));
    }
  }

  private String ratio() {
    double ratio = reference / value;
    return format(ratio < 10 ? "%.2g" : "%.0f", ratio)
        + (unit == Unit.HEAP ? " x the heap" : " x the time");
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
