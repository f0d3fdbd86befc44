package io.fibry.simulation;

import io.fibry.text.Lines;
import java.util.function.Function;

/**
 * Finds a shorter run that fails in the same way. A run is shorter if it has fewer deviations from
 * a quiet machine in total: kinds of faults, and decisions that differ.
 */
final class RunShrinker {
  private static final int MAX_RUNS = 500;
  private static final long MAX_NANOS = 10_000_000_000L; // ns of real time

  private final Function<RunReplay, RunOutcome> runner;
  private final RunOutcome original;
  private RunOutcome shortest;
  private int runs; // runs so far
  private final long startNanos = System.nanoTime();

  private RunShrinker(RunOutcome failedRun, Function<RunReplay, RunOutcome> runner) {
    this.original = failedRun;
    this.shortest = failedRun;
    this.runner = runner;
  }

  static RunShrinker shrink(RunOutcome failedRun, Function<RunReplay, RunOutcome> runner) {
    var shrinker = new RunShrinker(failedRun, runner);
    shrinker.shrinkDecisions();
    shrinker.shrinkFaults();
    return shrinker;
  }

  RunOutcome shortest() {
    return shortest;
  }

  /**
   * Tries to remove all deviations from a quiet machine, then each half of them, each quarter, and
   * so on to single deviations.
   */
  private void shrinkDecisions() {
    for (int size = countDeviations(shortest); size >= 1; size /= 2) {
      boolean isShorter;
      do {
        isShorter = false;
        int[] indices = shortest.decisions().deviationIndices();
        for (int from = 0; from < indices.length && mayContinue(); from += size)
          isShorter |= tryReplay(shortest.replay()
              .withDecisions(
                  shortest.decisions().withoutDeviations(indices, from, Math.min(indices.length, from + size))));
      } while (isShorter && size == 1 && mayContinue());
    }
  }

  private boolean mayContinue() {
    return runs < MAX_RUNS && System.nanoTime() - startNanos < MAX_NANOS;
  }

  private void shrinkFaults() {
    for (var fault : original.struckFaults())
      if (shortest.struckFaults().contains(fault)) tryReplay(shortest.replay().without(fault));
  }

  /**
   * Runs a replay. If it is shorter and fails in the same way, makes it the shortest run. Returns
   * whether it became the shortest run.
   */
  private boolean tryReplay(RunReplay replay) {
    runs++;
    var outcome = runner.apply(replay);
    boolean isShorter =
        countDeviations(outcome) + outcome.struckFaults().size()
            < countDeviations(shortest) + shortest.struckFaults().size();
    if (!outcome.hasFailed() || !outcome.failure().isSameFault(original.failure()) || !isShorter) return false;
    shortest = outcome;
    return true;
  }

  private static int countDeviations(RunOutcome outcome) {
    return outcome.decisions().deviationIndices().length;
  }

  /** Returns a text for the failure: how much shorter the run became. */
  @Override
  public String toString() {
    int originalCount = countDeviations(original);
    if (originalCount == 0) return ", in the order of a quiet machine";
    return "; " + Lines.count(originalCount, "decision") + " against the order of a quiet machine, "
        + countDeviations(shortest)
        + " after " + Lines.count(runs, "more run");
  }
}
