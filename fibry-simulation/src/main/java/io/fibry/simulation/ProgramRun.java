package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.io.Network;
import io.fibry.simulation.run.FaultInjector;
import io.fibry.simulation.run.RunEvents;
import io.fibry.simulation.run.RunFailure;
import io.fibry.simulation.run.SimulationCarrier;
import io.fibry.simulation.run.SimulationRun;
import io.fibry.simulation.run.ThreadChooser;
import io.fibry.simulation.run.ThreadReport;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** Runs a program once, with one seed, and checks that no thread or message remains afterwards. */
final class ProgramRun {
  private static final Duration CLOSE_LIMIT = Duration.ofMinutes(5); // by the run's clock
  private static final int MAX_CHECKS = 100; // how often `close` checks, after the limit, whether handlers still run

  private final SimulationRun run;
  private final Network network;
  private final Program program;
  private final Options options;
  private boolean isEnded; // the program has returned and its scopes are closed

  private ProgramRun(SimulationRun run, Network network, Program program, Options options) {
    this.run = run;
    this.network = network;
    this.program = program;
    this.options = options;
  }

  /**
   * Runs a program.
   *
   * @param steps an estimate of the number of steps of the run
   * @param isTraced whether the events of the run are recorded
   */
  static RunOutcome run(Program program, Options options, RunReplay replay, long steps, RunEvents events,
      boolean isTraced) {
    var random = new SplittableRandom(replay.seed());
    var faults = new FaultInjector(random.split(), replay.disabledFaults());
    var chooser =
        replay.decisions() == null ? chooser(options, replay.seed(), steps) : ThreadChooser.of(replay.decisions());
    var run = new SimulationRun(faults, random.split(), chooser, events, options.maxSteps(), isTraced);
    var programRun = new ProgramRun(run, new Network(run), program, options);
    YieldPoints.run = options.hasYieldPoints() ? run : null;
    SimulationCarrier.play(run, programRun::main);
    YieldPoints.run = null;
    var failure = programRun.failure();
    run.livingThreads.forgetAll();
    return new RunOutcome(replay.withDecisions(run.decisions), failure, run.steps(), run.hash(), run.clock.now(),
        faults.struckKinds(), run.trace);
  }

  private static ThreadChooser chooser(Options options, long seed, long steps) {
    var chooser = options.policy().chooser(seed, steps);
    return options.hasYieldPoints() ? ThreadChooser.withYieldPoints(seed, chooser) : chooser;
  }

  private void main() {
    var scope = ActorSystem.openScope("simulation");
    var simulation = new Simulation(run, network, scope);
    try {
      program.run(simulation);
      simulation.join();
    } catch (Throwable thrown) {
      run.fail(RunFailure.ofException(thrown));
      return;
    }
    run.onProgramEnd();
    check(close(scope), scope);
    check(close(ActorSystem.root()), ActorSystem.root());
    simulation.closeNodes(CLOSE_LIMIT);
    isEnded = true;
  }

  /**
   * Closes a scope. If handlers still run after the limit, waits for them once more, up to the same
   * limit.
   */
  private static ActorScope.Report close(ActorScope scope) {
    var report = scope.closeWithin(CLOSE_LIMIT);
    for (int i = 0; i < MAX_CHECKS && !report.unresponsive().isEmpty(); i++) {
      Thread.interrupted(); // an interrupted thread would not park
      LockSupport.parkNanos(CLOSE_LIMIT.toNanos() / MAX_CHECKS);
      report = scope.report();
    }
    return report;
  }

  private void check(ActorScope.Report report, ActorScope scope) {
    if (!report.unresponsive().isEmpty()) failLeftover("handlers still run: " + report.unresponsive());
    else if (report.queued() > 0) failLeftover("messages still wait: " + report);
    else if (report.sent() != report.handled() + report.unhandled().values().stream().mapToLong(n -> n).sum())
      failLeftover("the counts of messages do not add up: " + report);
    else if (options.failsOnDeadLetters() && !scope.deadLetters().isEmpty())
      failLeftover("there are dead letters: " + scope.deadLetters());
  }

  private void failLeftover(String description) {
    run.fail(RunFailure.of(RunFailure.FailureKind.LEFTOVER, "when all scopes had closed, " + description));
  }

  private RunFailure failure() {
    if (run.failure() != null) return run.failure();
    var remainingThreads = run.livingThreads.list();
    if (!isEnded) return RunFailure.of(RunFailure.FailureKind.DEADLOCK,
        "deadlock: no thread can run, and no timer is due; waiting:\n" + ThreadReport.of(remainingThreads));
    return remainingThreads.isEmpty() ? null : RunFailure.of(RunFailure.FailureKind.LEFTOVER,
        "when all scopes had closed, threads were left\n" + ThreadReport.of(remainingThreads));
  }
}
