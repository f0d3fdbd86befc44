package io.fibry.simulation;

import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a program with one seed after the other, until one fails. Used by one thread. */
final class SeedSearch {
  private static final Logger LOG = LoggerFactory.getLogger(Simulation.class);
  private static final int REPEAT_TRIES = 6; // to see two runs of a seed part again

  private final Options options;
  private final Program program;
  private final Set<Long> hashes = new HashSet<>();
  private long estimate = 100; // steps of a run
  private long runs;
  private long steps;
  private double time; // s

  SeedSearch(Options options, Program program) {
    this.options = options;
    this.program = program;
  }

  Simulation.Summary all() {
    long begun = System.nanoTime();
    var quiet = runInOrder();
    estimate = quiet.steps();
    if (options.replay() != null) return repeat(options.replay());
    record(quiet);
    long seed = options.firstSeed();
    for (long last = seed + options.seeds(); seed < last && !isOver(begun); seed++) {
      if (Thread.currentThread().isInterrupted()) throw new CancellationException("interrupted after " + summary());
      var outcome = run(RunReplay.of(seed), false);
      if (Long.bitCount(seed) == 1) repeated(outcome);
      record(outcome);
    }
    var summary = summary();
    if (runs <= options.seeds()) LOG.warn("only {}, of {} seeds, in {}", summary, options.seeds(), options.limit());
    return summary;
  }

  private boolean isOver(long begun) {
    return options.limit() != null && System.nanoTime() - begun >= SimulatedClock.nanos(options.limit());
  }

  private Simulation.Summary summary() {
    return new Simulation.Summary(runs, hashes.size(), steps, time);
  }

  /** Class initializers look at clocks, so the first run is another than the second. */
  private RunOutcome runInOrder() {
    var oldest = RunReplay.of(0).with(new Decisions());
    var first = run(oldest, false);
    return first.failed() && first.failure().kind() == RunFailure.FailureKind.CARRIER_HELD ? first : run(oldest, false);
  }

  private RunOutcome run(RunReplay replay, boolean traced) {
    return ProgramRun.of(program, options, replay, estimate, RunEvents.disabled(), traced);
  }

  private void record(RunOutcome outcome) {
    runs++;
    steps += outcome.steps();
    time += outcome.time() / 1e9;
    hashes.add(outcome.hash());
    if (outcome.failed()) throw failed(outcome);
  }

  private Simulation.Summary repeat(RunReplay replay) {
    run(replay, false); // it may be the first to use some class
    var outcome = run(replay, true);
    if (outcome.failed()) throw FailureReport.of(outcome, outcome, "");
    return new Simulation.Summary(1, 1, outcome.steps(), outcome.time() / 1e9);
  }

  private SimulationFailure failed(RunOutcome failed) {
    if (failed.failure().kind() == RunFailure.FailureKind.CARRIER_HELD) return FailureReport.of(failed, failed, "");
    var first = repeated(failed);
    if (!first.failed()) throw notRepeatable(failed, "it failed once, and then no more\n" + failed.failure().text());
    var shortest = RunShrinker.of(first, replay -> run(replay, false));
    var shown = run(shortest.best().replay(), true);
    if (shown.hash() != shortest.best().hash()) return FailureReport.of(first, shown,
        "; another run is shown: the texts of messages, or something outside the simulation, change it");
    return FailureReport.of(first, shown, shortest.toString());
  }

  /**
   * {@return the same run again} The first one may have initialized a class. A run that differs
   * each time is useless: it fails, and names the first difference.
   */
  private RunOutcome repeated(RunOutcome outcome) {
    var second = run(outcome.replay(), false);
    if (second.hash() == outcome.hash()) return second;
    var third = run(second.replay(), false);
    if (third.hash() == second.hash()) return third;
    throw notRepeatable(outcome, difference(outcome.replay()));
  }

  private static SimulationFailure notRepeatable(RunOutcome outcome, String how) {
    return new SimulationFailure("seed " + outcome.replay().seed() + " is not repeatable: " + how
        + "\nSomething else than the seed decides what happens: a clock, chance or thread that is not simulated,"
        + " static state that outlives a run, the order of a HashMap or HashSet of objects without hashCode"
        + " (-XX:+UnlockExperimentalVMOptions -XX:hashCode=2 makes that one go away)", outcome, null);
  }

  private String difference(RunReplay replay) {
    for (int i = 0; i < REPEAT_TRIES; i++) {
      var one = events(replay, -1);
      int at = one.mismatch(events(replay, -1));
      if (at < 0) continue;
      var places = new StringBuilder("two runs part at event " + at);
      for (int j = 0; j < 2; j++) {
        var domain = events(replay, at).stackTrace();
        if (domain == null) continue;
        places.append('\n').append(domain.getMessage());
        for (var frame : domain.getStackTrace())
          if (!frame.getClassName().startsWith("io.fibry.simulation.")) places.append("\n    at ").append(frame);
      }
      return places.toString();
    }
    return "two runs differed, and then no more";
  }

  private RunEvents events(RunReplay replay, int wanted) {
    var events = RunEvents.recording(wanted);
    ProgramRun.of(program, options, replay, estimate, events, false);
    return events;
  }
}
