package io.fibry.simulation;

import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.run.Decisions;
import io.fibry.simulation.run.RunEvents;
import io.fibry.simulation.run.RunFailure;
import io.fibry.simulation.run.SimulatedClock;
import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.slf4j.Logger;

/** Runs a program with one seed after the other, until a run fails. Used by one thread. */
final class SeedSearch {
  private static final Logger LOG = SafeLogger.of(Simulation.class);
  private static final int MAX_COMPARISONS = 6; // attempts to find the first difference of two runs of a seed

  private static final RunReplay QUIET = RunReplay.of(0).withDecisions(new Decisions()); // of a quiet machine

  private final Options options;
  private final Program program;
  private final Set<Long> hashes = new HashSet<>(); // the hashes of all runs, to count the different orders
  private long expectedSteps = 100; // steps of a run, estimated
  private long runs; // runs so far
  private long steps; // steps of all runs
  private double seconds; // s of simulated time of all runs

  SeedSearch(Options options, Program program) {
    this.options = options;
    this.program = program;
  }

  /** Runs all seeds, or only the replay of the options. */
  Simulation.Summary runSeeds() {
    long startNanos = System.nanoTime();
    var quiet = runOldestFirst();
    expectedSteps = quiet.steps();
    if (options.replay() != null) return replay(options.replay());
    record(QUIET, quiet);
    long seed = options.firstSeed();
    for (long last = seed + options.seeds(); seed < last && !isTimeUp(startNanos); seed++) {
      if (Thread.currentThread().isInterrupted()) throw new CancellationException("interrupted after " + summary());
      var request = RunReplay.of(seed);
      var outcome = run(request, false);
      if (Long.bitCount(seed) == 1) repeat(outcome); // checks at seeds 1, 2, 4, 8 and so on that a run can be repeated
      record(request, outcome);
    }
    var summary = summary();
    if (runs <= options.seeds())
      LOG.warn("only {}; {} seeds were asked for, but the time limit of {} was over", summary, options.seeds(),
          Durations.text(options.timeLimit()));
    return summary;
  }

  private boolean isTimeUp(long startNanos) {
    return options.timeLimit() != null && System.nanoTime() - startNanos >= SimulatedClock.nanos(options.timeLimit());
  }

  private Simulation.Summary summary() {
    return new Simulation.Summary(runs, hashes.size(), steps, seconds);
  }

  /**
   * Runs the program twice in the order of a quiet machine, and returns the second run. The first
   * run initializes classes, which may read the clock, so the first run may differ from all later
   * runs. Returns the first run if a thread of it did not leave its carrier.
   */
  private RunOutcome runOldestFirst() {
    var first = run(QUIET, false);
    return first.hasFailed() && first.failure().kind() == RunFailure.FailureKind.CARRIER_HELD ? first
        : run(QUIET, false);
  }

  private RunOutcome run(RunReplay replay, boolean isTraced) {
    return ProgramRun.run(program, options, replay, expectedSteps, RunEvents.disabled(), isTraced);
  }

  private void record(RunReplay request, RunOutcome outcome) {
    runs++;
    steps += outcome.steps();
    seconds += outcome.simulatedNanos() / 1e9;
    hashes.add(outcome.hash());
    if (outcome.hasFailed()) throw failure(request, outcome);
  }

  private Simulation.Summary replay(RunReplay replay) {
    run(replay, false); // the outcome is ignored, because this run initializes classes, and may therefore differ
    var outcome = run(replay, true);
    if (outcome.hasFailed()) throw FailureReport.of(replay, outcome, outcome, "");
    return new Simulation.Summary(1, 1, outcome.steps(), outcome.simulatedNanos() / 1e9);
  }

  /** Repeats a failed run, looks for a shorter run that fails, and returns the failure to throw. */
  private SimulationFailure failure(RunReplay request, RunOutcome failed) {
    if (failed.failure().kind() == RunFailure.FailureKind.CARRIER_HELD)
      return FailureReport.of(request, failed, failed, "");
    var first = repeat(failed);
    if (!first.hasFailed())
      throw notRepeatable(failed, "it failed once, but not when it was repeated\n" + failed.failure().text());
    var shrinker = RunShrinker.shrink(first, replay -> run(replay, false));
    var shown = run(shrinker.shortest().replay(), true);
    if (shown.hash() != shrinker.shortest().hash()) return FailureReport.of(request, first, shown,
        "; the run that is shown differs: it also calls toString of messages, and these calls or something outside the"
            + " simulation changed it");
    return FailureReport.of(request, first, shown, shrinker.toString());
  }

  /**
   * Repeats a run until two runs in a row are equal, and returns the last run. The given run may
   * differ because it initialized a class. If the third run also differs from the second, the
   * simulation fails with a text that names the first difference.
   */
  private RunOutcome repeat(RunOutcome outcome) {
    var second = run(outcome.replay(), false);
    if (second.hash() == outcome.hash()) return second;
    var third = run(second.replay(), false);
    if (third.hash() == second.hash()) return third;
    throw notRepeatable(outcome, difference(outcome.replay()));
  }

  private static SimulationFailure notRepeatable(RunOutcome outcome, String difference) {
    return new SimulationFailure("seed " + outcome.replay().seed() + " is not repeatable: " + difference
        + "\nSomething else than the seed decides what happens: a clock, chance or thread that is not simulated,"
        + " static state that outlives a run, the order of a HashMap or HashSet of objects without hashCode"
        + " (-XX:+UnlockExperimentalVMOptions -XX:hashCode=2 makes this order repeatable)",
        outcome, outcome.replay(), null);
  }

  /**
   * Compares runs of one seed, and returns the first event that differs, with its stack in two
   * runs.
   */
  private String difference(RunReplay replay) {
    for (int i = 0; i < MAX_COMPARISONS; i++) {
      var first = recordEvents(replay, -1);
      int mismatch = first.mismatch(recordEvents(replay, -1));
      if (mismatch < 0) continue;
      var text = new StringBuilder("two runs differ at event " + mismatch);
      for (int j = 0; j < 2; j++) {
        var stackTrace = recordEvents(replay, mismatch).stackTrace();
        if (stackTrace == null) continue;
        text.append('\n').append(stackTrace.getMessage());
        for (var frame : stackTrace.getStackTrace())
          if (!frame.getClassName().startsWith("io.fibry.simulation.")) text.append("\n    at ").append(frame);
      }
      return text.toString();
    }
    return "two runs differed, but later runs did not";
  }

  private RunEvents recordEvents(RunReplay replay, int wantedEvent) {
    var events = RunEvents.recording(wantedEvent);
    ProgramRun.run(program, options, replay, expectedSteps, events, false);
    return events;
  }
}
