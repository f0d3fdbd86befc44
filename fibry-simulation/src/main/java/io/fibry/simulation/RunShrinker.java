package io.fibry.simulation;

import java.util.function.Function;

/**
 * Makes a failing run shorter: fewer decisions against the order of a quiet machine, fewer faults,
 * as long as it fails in the same way.
 */
final class RunShrinker {
  private static final int MAX_RUNS = 500; // runs
  private static final long MAX_NANOS = 10_000_000_000L; // ns of real time

  private final Function<RunReplay, RunOutcome> run;
  private final RunOutcome first;
  private RunOutcome best;
  private int runs;
  private final long begun = System.nanoTime();

  private RunShrinker(RunOutcome failed, Function<RunReplay, RunOutcome> run) {
    this.first = failed;
    this.best = failed;
    this.run = run;
  }

  static RunShrinker of(RunOutcome failed, Function<RunReplay, RunOutcome> run) {
    var shrink = new RunShrinker(failed, run);
    shrink.shrinkDecisions();
    shrink.shrinkFaults();
    return shrink;
  }

  RunOutcome best() {
    return best;
  }

  /** All of them, then halves, quarters, and so on to single ones. */
  private void shrinkDecisions() {
    for (int size = deviations(best); size >= 1; size /= 2) {
      boolean better;
      do {
        better = false;
        int[] at = best.decisions().deviations();
        for (int from = 0; from < at.length && mayContinue(); from += size)
          better |= isBetter(best.replay().with(best.decisions().without(at, from, Math.min(at.length, from + size))));
      } while (better && size == 1 && mayContinue());
    }
  }

  private boolean mayContinue() {
    return runs < MAX_RUNS && System.nanoTime() - begun < MAX_NANOS;
  }

  private void shrinkFaults() {
    for (var fault : first.struckFaults())
      if (best.struckFaults().contains(fault)) isBetter(best.replay().without(fault));
  }

  private boolean isBetter(RunReplay replay) {
    runs++;
    var tried = run.apply(replay);
    boolean fewer = deviations(tried) + tried.struckFaults().size() < deviations(best) + best.struckFaults().size();
    if (!tried.failed() || !tried.failure().isSameFault(first.failure()) || !fewer) return false;
    best = tried;
    return true;
  }

  private static int deviations(RunOutcome outcome) {
    return outcome.decisions().deviations().length;
  }

  @Override
  public String toString() {
    int before = deviations(first);
    if (before == 0) return ", in the order of a quiet machine";
    return "; " + before + " decisions against the order of a quiet machine, " + deviations(best) + " after " + runs
        + " more runs";
  }
}
