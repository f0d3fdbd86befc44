package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** A program in one run, from its beginning until nothing of it is left. */
final class ProgramRun {
  private static final Duration CLOSE_LIMIT = Duration.ofMinutes(5);
  private static final int MAX_CHECKS = 100; // at handlers that were cut off

  private final SimulationRun run;
  private final Program program;
  private final Options options;
  private boolean isEnded; // the program and its scopes, and they were all right

  private ProgramRun(SimulationRun run, Program program, Options options) {
    this.run = run;
    this.program = program;
    this.options = options;
  }

  /** @param steps an estimate of how many there will be */
  static RunOutcome of(Program program, Options options, RunReplay replay, long steps, RunEvents events,
      boolean traced) {
    var chance = new SplittableRandom(replay.seed());
    var faults = new Faults(chance.split(), replay.without());
    var choice =
        replay.decisions() == null ? choice(options, replay.seed(), steps) : ThreadChooser.of(replay.decisions());
    var trace = traced ? new MessageTrace() : null;
    var run = new SimulationRun(faults, chance.split(), choice, events, options.steps(), trace);
    var trial = new ProgramRun(run, program, options);
    YieldPoints.run = options.finePoints() ? run : null;
    SimulationCarrier.play(run, trial::main);
    YieldPoints.run = null;
    var failure = trial.failure();
    run.livingThreads().forget();
    return new RunOutcome(replay.with(run.decisions()), failure, run.steps(), run.hash(), run.clock.now(),
        faults.struck(), trace);
  }

  private static ThreadChooser choice(Options options, long seed, long steps) {
    var choice = options.policy().choice(seed, steps);
    return options.finePoints() ? ThreadChooser.withFinePoints(seed, choice) : choice;
  }

  private void main() {
    var scope = ActorSystem.openScope("simulation");
    var simulation = new Simulation(run, scope);
    try {
      program.run(simulation);
      simulation.join();
    } catch (Throwable thrown) {
      run.fail(RunFailure.thrown(thrown));
      return;
    }
    run.onProgramEnd();
    check(closed(scope), scope);
    check(closed(ActorSystem.root()), ActorSystem.root());
    simulation.closeNodes(CLOSE_LIMIT);
    isEnded = true;
  }

  /** A handler that was cut off may take some more time. */
  private static ActorScope.Report closed(ActorScope scope) {
    var report = scope.closeWithin(CLOSE_LIMIT);
    for (int look = 0; look < MAX_CHECKS && !report.unresponsive().isEmpty(); look++) {
      Thread.interrupted(); // else it would not park
      LockSupport.parkNanos(CLOSE_LIMIT.toNanos() / MAX_CHECKS);
      report = scope.report();
    }
    return report;
  }

  private void check(ActorScope.Report report, ActorScope scope) {
    if (!report.unresponsive().isEmpty()) failLeftover("handlers still run: " + report.unresponsive());
    else if (report.queued() > 0) failLeftover("messages still wait: " + report);
    else if (report.sent() != report.handled() + report.unhandled().values().stream().mapToLong(n -> n).sum())
      failLeftover("the accounts do not add up: " + report);
    else if (options.noDeadLetters() && !scope.deadLetters().isEmpty())
      failLeftover("there are dead letters: " + scope.deadLetters());
  }

  private void failLeftover(String what) {
    run.fail(RunFailure.of(RunFailure.FailureKind.LEFTOVER, "when all scopes had closed, " + what));
  }

  private RunFailure failure() {
    if (run.failure() != null) return run.failure();
    var alive = run.livingThreads().livingThreads();
    if (!isEnded) return RunFailure.of(RunFailure.FailureKind.DEADLOCK,
        "deadlock: nothing can run, and nothing is due; these wait\n" + ThreadReport.of(alive));
    return alive.isEmpty() ? null : RunFailure.of(RunFailure.FailureKind.LEFTOVER,
        "when all scopes had closed, threads were left\n" + ThreadReport.of(alive));
  }
}
