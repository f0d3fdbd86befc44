package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.FailurePolicy.Kind;
import io.fibry.engine.cell.Owner.Decision;
import io.fibry.engine.cell.Owner.Verdict;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.message.Control;
import io.fibry.engine.message.Events;
import java.util.concurrent.CancellationException;

/** What becomes of an actor whose handler threw. */
public final class Failures {
  private Failures() {}

  /** Memory is exhausted, or the thread must die. */
  private static boolean isFatal(Throwable failure) {
    return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError)
        || failure.getClass().getName().equals("java.lang.ThreadDeath");
  }

  static FailurePolicy policy(Cell cell, Throwable failure) {
    return isFatal(failure) ? FailurePolicy.stop() : chosen(cell.settings().policy(), failure, cell.toString());
  }

  /** A policy that throws means stop. */
  public static FailurePolicy chosen(FailurePolicy policy, Throwable failure, String whose) {
    try {
      return policy.chosenFor(failure);
    } catch (Throwable undecided) {
      Log.LOG.error("the failure policy of {} could not decide about {}, so it stops", whose, Log.shown(failure),
          undecided);
      return FailurePolicy.stop();
    }
  }

  /** After the last retry: tells the asker and the accounts, and obeys the policy. */
  static void handle(Context context, Throwable failure, FailurePolicy policy) {
    var cell = context.cell;
    Object given = Control.given(context.message);
    if (context.request != null && context.request.isOpen()) context.request.fail(failure);
    if (context.received != null) context.failUnanswered(failure);
    boolean obeys =
        cell.isEnding() && (failure instanceof InterruptedException || failure instanceof CancellationException);
    if (!context.stashed) count(context, failure);
    if (!obeys) Events.failure(cell, given, failure);
    if (cell.isEnding()) {
      if (policy.logs() && !obeys || isFatal(failure)) log(cell, given, failure, "it is ending");
      return;
    }
    var own = ownDecision(cell, policy);
    var decision = own != null ? own : cell.owner().decide(cell.front(), cell, failure);
    if (decision.verdict() == Verdict.RESTART) restart(context, failure, decision.pause());
    else if (decision.verdict() == Verdict.STOP) cell.shutDoor(new ExitReason.Failed(failure));
    if (policy.logs()) log(cell, given, failure,
        (own != null ? "" : "its scope '" + cell.owner().name() + "' decides: ") + shown(decision));
  }

  private static void log(Cell cell, Object given, Throwable failure, String then) {
    Log.LOG.error("actor '{}' failed at {}; {}", cell.name(), Log.text(given), then, failure);
  }

  private static String shown(Decision decision) {
    if (decision.verdict() == Verdict.GO_ON) return "it goes on";
    if (decision.verdict() == Verdict.STOP) return "it stops";
    return "it restarts" + (decision.pause() > 0 ? " in " + decision.pause() / 1_000_000 + " ms" : "");
  }

  private static void count(Context context, Throwable failure) {
    var cell = context.cell;
    var extras = cell.extrasOrNull();
    if (extras != null) extras.failed++;
    if (context.request != null) cell.owner().accounts().countUnhandled(Reason.FAILED);
    else DeadLetters.add(cell, context.message, Reason.FAILED, failure);
  }

  /** Null: the scope decides. */
  private static Decision ownDecision(Cell cell, FailurePolicy policy) {
    // no switch: at the edge of a stack, its hidden class could fail to load
    if (policy.kind() == Kind.GO_ON) return Decision.GO_ON;
    if (policy.kind() == Kind.STOP) return Decision.STOP;
    if (policy.kind() != Kind.RESTART) return null;
    long pause = cell.extras().restarts().next(policy, cell.owner().options().scheduler().nanoTime());
    return pause == RestartBudget.EXCEEDED ? null : new Decision(Verdict.RESTART, pause);
  }

  /** Drops the state, and brings back the stash; a suspension follows, even where this throws. */
  static void restart(Context context, Throwable cause, long pause) {
    context.cell.extras().pause = pause;
    context.suspends = pause > 0;
    dropState(context.cell, "at its restart");
    context.emptyStash();
    Events.restart(context.cell, cause, pause);
  }

  public static void dropState(Cell cell, String when) {
    try {
      cell.behaviour.stop(cell);
    } catch (Throwable failure) {
      Log.LOG.error("the stop hook of actor '{}' failed {}", cell.name(), when, failure);
    } finally {
      cell.state = null;
      cell.hasState = false;
    }
  }
}
