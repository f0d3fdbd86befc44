package io.fibry.examples.tour;

import java.util.List;
import java.util.Locale;

/** What one execution took, and what its reference took. */
public record Row(String ours, double nanos, String theirs, double referenceNanos) {
  public double perSecond() {
    return 1e9 / nanos;
  }

  /** Prints each row with its reference and its sentence. */
  public static void print(List<Row> rows, List<String> sentences) {
    System.out.printf("%n%-50s %10s   %s%n%s%n", "Fibry, and what it is measured against", "each", "Fibry is",
        "-".repeat(80));
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      System.out.printf("%-50s %10s   %s%n", row.ours, time(row.nanos), speed(row.referenceNanos / row.nanos));
      System.out.printf("  %-48s %10s%n", row.theirs, time(row.referenceNanos));
      System.out.printf("    -> %s%n", sentences.get(i));
    }
  }

  private static String time(double nanos) {
    return nanos < 1000 ? String.format(Locale.ROOT, "%.0f ns", nanos)
        : String.format(Locale.ROOT, "%.1f us", nanos / 1000);
  }

  private static String speed(double ratio) {
    return String.format(Locale.ROOT, ratio < 10 ? "%.1f x as fast" : "%.0f x as fast", ratio);
  }
}
