package io.fibry.bench.scenario;

import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Measures the sides of an experiment. Prints each row, and writes all rows to a result file. */
final class Experiment {
  static final int ROUNDS = Integer.getInteger("rounds", 5);
  // ms before each run; at 0 there is neither a pause nor a garbage collection
  private static final int PAUSE = Integer.getInteger("pause", 20);

  private static final String ONLY = System.getProperty("only", ""); // the only side that runs; empty: all run

  private final String id;
  private final String title;
  private final List<Side> sides = new ArrayList<>();
  private final List<ResultRow> rows = new ArrayList<>();

  interface Trial {
    double run() throws Exception;
  }

  private record Side(String name, String unit, String publishedResult, long size, Trial trial,
      List<Double> measurements) {}

  Experiment(String id, String title) {
    this.id = id;
    this.title = title;
    System.out.printf("%n%s: %s%nJDK %s, %d processors%n", id, title, Runtime.version(),
        Runtime.getRuntime().availableProcessors());
    System.out.printf("%-52s %12s %-8s %26s %9s  %s%n", "side", "median", "unit", "(min..max)", "cost", "published");
  }

  static int size(int defaultSize) {
    return Integer.getInteger("size", defaultSize);
  }

  static long usedHeap() {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  static double secondsSince(long began) {
    return (System.nanoTime() - began) / 1e9;
  }

  Experiment side(String name, String unit, String publishedResult, Trial trial) {
    return side(name, unit, publishedResult, 0, trial);
  }

  Experiment side(String name, String unit, String publishedResult, long size, Trial trial) {
    if (ONLY.isEmpty() || name.equals(ONLY))
      sides.add(new Side(name, unit, publishedResult, size, trial, new ArrayList<>()));
    return this;
  }

  /** Runs all sides in turns, {@code -Drounds} times after a warm-up. */
  void runInTurns() throws Exception {
    for (int round = -1; round < ROUNDS; round++) {
      System.out.printf("round %d of %d%n", round + 1, ROUNDS);
      for (var side : sides) run(side, round < 0);
    }
    for (var side : sides) addRow(side);
    write();
  }

  /** Runs each side once and without a warm-up, because a run takes long. */
  void runOnce() throws Exception {
    for (var side : sides) {
      run(side, false);
      addRow(side);
    }
    write();
  }

  private static void run(Side side, boolean warmUp) throws Exception {
    if (PAUSE > 0) {
      System.gc(); // no side pays for the garbage of another
      TimeUnit.MILLISECONDS.sleep(PAUSE);
    }
    double value = side.trial.run();
    if (!warmUp) side.measurements.add(value);
  }

  private void addRow(Side side) {
    add(ResultRow
        .of(side.name, side.unit, side.publishedResult,
            side.measurements.stream().mapToDouble(Double::doubleValue).toArray())
        .withSize(side.size));
  }

  /** Adds a row, and prints it with its cost relative to the first row of its unit and size. */
  void add(ResultRow row) {
    rows.add(row);
    var base = rows.stream()
        .filter(earlier -> earlier.unit().equals(row.unit()) && earlier.size() == row.size()).findFirst().orElseThrow();
    System.out.printf(Locale.ROOT, "%-52s %12s %-8s %26s %8sx  %s%n",
        row.side() + (row.size() == 0 ? "" : String.format(Locale.ROOT, ", %,d", row.size())),
        ResultRow.readable(row.median()), row.unit(),
        "(" + ResultRow.readable(row.least()) + ".." + ResultRow.readable(row.most()) + ")",
        ResultRow.readable(row.costAgainst(base)),
        row.reference());
  }

  void write() throws IOException {
    Result.here(id, title, rows).write();
  }
}
