package io.fibry.examples.tour;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Two ways to do the same, measured side by side: in turns, so that whatever disturbs the machine
 * disturbs both, and the middle one of several rounds counts.
 */
public final class Comparison {
  /** Does something so many times and answers how many nanoseconds it took. */
  public interface Work {
    /** Prepares, measures, and clears up; only the middle part counts. */
    long nanos(int times) throws Exception;
  }

  /** What came out. */
  public record Row(String ours, double nanos, String theirs, double referenceNanos) {
    /** How many times as fast as the reference. */
    public double speed() {
      return referenceNanos / nanos;
    }

    /** How many in a second. */
    public double perSecond() {
      return 1e9 / nanos;
    }
  }

  private final int rounds;
  private final long roundNanos;

  /** So many rounds each, each about this long. */
  public Comparison(int rounds, int roundMillis) {
    this.rounds = rounds;
    this.roundNanos = roundMillis * 1_000_000L;
  }

  /** Measures both, printing a dot for each round. */
  public Row run(String ours, Work work, String theirs, Work reference, int most) throws Exception {
    var times = List.of(new ArrayList<Double>(), new ArrayList<Double>());
    var works = List.of(work, reference);
    var counts = new int[] {warmUp(work, most), warmUp(reference, most)};
    for (int round = 0; round < rounds; round++)
      for (int side = 0; side < 2; side++) {
        times.get(side).add((double) works.get(side).nanos(counts[side]) / counts[side]);
        System.out.print(".");
      }
    return new Row(ours, median(times.get(0)), theirs, median(times.get(1)));
  }

  /** Until the compiler has done its work and we know how many fit into a round. */
  private int warmUp(Work work, int most) throws Exception {
    int times = Math.min(most, 100);
    long spent = 0;
    while (true) {
      long nanos = Math.max(1, work.nanos(times));
      spent += nanos;
      int fit = Math.clamp((long) ((double) roundNanos / nanos * times), 1, most);
      if (spent > 2 * roundNanos || nanos > roundNanos || fit == most && times == most) return fit;
      times = Math.clamp(times * 2L, 1, fit);
    }
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  /** The rows as a table, each with its reference below it, and its sentence. */
  public static void print(List<Row> rows, List<String> sentences) {
    System.out.printf("%n%-50s %10s   %s%n%s%n", "Fibry, and what it is measured against", "each", "Fibry is",
        "-".repeat(80));
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      System.out.printf("%-50s %10s   %s%n", row.ours, time(row.nanos), speed(row.speed()));
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
