package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.scope.Supervisor.Decision;
import java.util.concurrent.CancellationException;

/** What becomes of an actor whose handler threw. Runs on its thread, in its turn. */
public final class Failures {
  private Failures() {}

  /** What no policy goes on after: there is no memory, or somebody wants the thread dead. */
  public static boolean fatal(Throwable failure) {
    return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError)
        || failure.getClass().getName().equals("java.lang.ThreadDeath");
  }

  public static FailurePolicy policy(ActorCell cell, Throwable failure) {
    return fatal(failure) ? FailurePolicy.stop() : cell.behaviour.how.policy().chosen(failure, cell.toString());
  }

  /**
   * The message has failed for good: tells its asker, enters it in the accounts, and does as the
   * policy says.
   */
  public static void handle(Activation turn, Throwable failure, FailurePolicy policy) {
    var cell = turn.cell;
    Object given = Envelope.given(turn.message);
    if (turn.asked != null && turn.asked.open()) turn.asked.fail(failure);
    if (turn.received != null) turn.failUnanswered(failure);
    boolean obeys = cell.phase > ActorCell.OPEN
        && (failure instanceof InterruptedException || failure instanceof CancellationException);
    if (!turn.aside) count(turn, failure);
    if (!obeys) Events.failure(cell, given, failure);
    if (cell.phase > ActorCell.OPEN) {
      if (policy.logs && !obeys || fatal(failure)) log(cell, given, failure, "it is ending");
      return;
    }
    String then = decide(turn, failure, policy);
    if (policy.logs) log(cell, given, failure, then);
  }

  private static void log(ActorCell cell, Object given, Throwable failure, String then) {
    Scope.LOG.error("actor '{}' failed at {}; {}", cell.name(), RequestException.shown(given), then, failure);
  }

  private static void count(Activation turn, Throwable failure) {
    var cell = turn.cell;
    var extras = cell.richOrNull();
    if (extras != null) extras.failed++;
    if (turn.asked != null) cell.scope().countUnhandled(Reason.FAILED);
    else cell.scope().deadLetter(cell, turn.message, Reason.FAILED, failure);
  }

  /** Does it, and says so. */
  private static String decide(Activation turn, Throwable failure, FailurePolicy policy) {
    var cell = turn.cell;
    if (policy.kind == FailurePolicy.Kind.GO_ON) return "it goes on";
    if (policy.kind == FailurePolicy.Kind.STOP) return stop(cell, failure);
    if (policy.kind == FailurePolicy.Kind.RESTART) {
      long pause = cell.rich().restarts().next(policy, cell.scope().options().scheduler.nanoTime());
      if (pause != RestartBudget.OVER_BUDGET) return restart(turn, failure, pause);
    }
    var decision = cell.scope().supervisor().decide(cell.front(), cell, failure);
    return "its scope '" + cell.scope().name() + "' decides: " + obey(turn, failure, decision);
  }

  private static String obey(Activation turn, Throwable failure, Decision decision) {
    return switch (decision.verdict()) {
      case GO_ON -> "it goes on";
      case RESTART -> restart(turn, failure, decision.pause());
      case STOP -> stop(turn.cell, failure);
    };
  }

  private static String stop(ActorCell cell, Throwable failure) {
    cell.rich().because(new ExitReason.Failed(failure));
    cell.shutDoor();
    return "it stops";
  }

  private static String restart(Activation turn, Throwable failure, long pause) {
    renew(turn, failure, pause);
    return "it restarts" + (pause > 0 ? " in " + pause / 1_000_000 + " ms" : "");
  }

  /** The old state leaves, the next message will find a new one; what was put aside comes back. */
  public static void renew(Activation turn, Throwable cause, long pause) {
    var cell = turn.cell;
    cell.rich().pause = pause;
    turn.rests = pause > 0;
    leaveState(cell, "at its restart");
    turn.takeBack();
    Events.restart(cell, cause, pause);
  }

  /** The next message will find a new one. */
  public static void leaveState(ActorCell cell, String when) {
    try {
      cell.behaviour.stop(cell);
    } catch (Throwable failure) {
      Scope.LOG.error("the stop hook of actor '{}' failed {}", cell.name(), when, failure);
    } finally {
      cell.state = null;
      cell.hasState = false;
    }
  }
}
