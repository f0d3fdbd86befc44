package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy.Kind;
import io.fibry.FailurePolicy;
import io.fibry.RequestException;
import io.fibry.engine.cell.OwningScope.Decision;
import io.fibry.engine.cell.OwningScope.Verdict;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.util.concurrent.CancellationException;

/** Decides what happens to an actor whose handler threw. */
public final class FailureHandler {
  private static final String ENDING = "it is ending"; // the consequence that a log line states

  private FailureHandler() {}

  /** Memory is exhausted, or the thread must die. */
  private static boolean isFatal(Throwable failure) {
    return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError)
        || failure.getClass().getName().equals("java.lang.ThreadDeath");
  }

  /** The handler did not fail, an actor that it asked did; and the policy says nothing of that. */
  private static boolean isNestedRequestFailure(Cell cell, Throwable failure) {
    return RequestFailures.requestExceptionIn(failure) != null
        && cell.settings().policy().requestFailurePolicy().isEmpty();
  }

  static FailurePolicy policy(Cell cell, Throwable failure) {
    if (isFatal(failure)) return FailurePolicy.stop();
    var policy = cell.settings().policy();
    if (RequestFailures.requestExceptionIn(failure) != null)
      policy = policy.requestFailurePolicy()
          .orElse(policy.isLogged() ? FailurePolicy.resume() : FailurePolicy.resume().withoutLog());
    return resolve(policy, failure, cell.toString());
  }

  /** A policy that throws means stop. */
  public static FailurePolicy resolve(FailurePolicy policy, Throwable failure, String whose) {
    try {
      return policy.resolve(failure);
    } catch (Throwable undecided) {
      EngineLog.LOG.error("the failure policy of {} could not decide about {}, so it stops", whose,
          MessageTexts.describe(failure),
          undecided);
      return FailurePolicy.stop();
    }
  }

  /** After the last retry: obeys the policy, and tells the asker and the accounts. */
  static void handle(HandlerContext context, Throwable failure, FailurePolicy policy) {
    var cell = context.cell;
    Object given = EngineMessage.unwrap(context.message);
    if (cell.isEnding()) {
      tell(context, failure);
      boolean obeys = failure instanceof InterruptedException || failure instanceof CancellationException;
      if (!obeys) report(cell, given, failure, ENDING);
      if (policy.isLogged() && !obeys || isFatal(failure)) log(cell, given, failure, ENDING, policy);
      return;
    }
    int most = policy.redeliveries();
    if (most == 0) tell(context, failure); // first, since a scope may ask user code
    var own = ownDecision(cell, policy);
    var decision = own != null ? own : cell.owner().decide(cell.publicCell(), cell, failure);
    boolean goesOn = own != null && decision.verdict() == Verdict.RESUME;
    int again = most > 0 && (goesOn || decision.verdict() == Verdict.RESTART) ? context.redeliver(most) : 0;
    if (again > 0 && context.received != null) context.failOpenRequests(failure);
    else if (most > 0 && again == 0) tell(context, failure);
    String then = (own != null ? "" : "its scope '" + cell.owner().name() + "' decides: ") + describe(decision);
    report(cell, given, failure, then);
    if (decision.verdict() == Verdict.RESTART) restart(context, failure, decision.pause());
    else if (goesOn) suspend(context, decision.pause());
    else if (decision.verdict() == Verdict.STOP) cell.stopAccepting(new ExitReason.Failed(failure));
    if (policy.isLogged() && again > 0)
      EngineLog.LOG.warn("actor '{}' failed at {}; {} and is given this again: {} of {}; {}",
          cell.name(), text(cell, given), then, again, most, MessageTexts.describe(failure));
    else if (policy.isLogged()) log(cell, given, failure, then, policy);
  }

  private static void tell(HandlerContext context, Throwable thrown) {
    var refusal = RequestFailures.requestExceptionIn(thrown);
    var failure = refusal != null ? refusal : thrown; // not its wrapper, if it came through a future
    if (context.request != null && context.request.isOpen())
      context.fail(context.request, EngineMessage.unwrap(context.message), failure);
    if (context.received != null) context.failOpenRequests(failure);
    if (!context.stashed) count(context, failure);
  }

  /** Shows a failure to the log and to the flight recorder. */
  private static void report(Cell cell, Object given, Throwable failure, String then) {
    JfrEvents.recordFailure(cell, given, failure);
    var other = Environment.simulated;
    if (other != null)
      other.noteEvent(cell.publicCell(),
          () -> "failed at " + text(cell, given) + "; " + then + "; " + MessageTexts.describe(failure));
  }

  /** An actor that continues may fail at each message, so equal failures share a line. */
  private static void log(Cell cell, Object given, Throwable failure, String then, FailurePolicy policy) {
    int omitted = 0;
    var refusal = isNestedRequestFailure(cell, failure) ? RequestFailures.requestExceptionIn(failure) : null;
    if (refusal != null)
      omitted = cell.owner().failureLog().admit(RequestException.class, refusal.actor(), System.nanoTime());
    else if (policy.kind() == Kind.RESUME || policy.kind() == Kind.RESTART)
      omitted = cell.owner().failureLog().admit(failure, System.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    String more = omitted == 0 ? "" : "; " + omitted + " more like it were not logged";
    if (refusal != null) EngineLog.LOG.warn("actor '{}' could not finish {}: {}{}", cell.name(), text(cell, given),
        Lines.escaped(String.valueOf(refusal.getMessage())), more);
    else EngineLog.LOG.error("actor '{}' failed at {}; {}{}", cell.name(), text(cell, given), then, more, failure);
  }

  /** It may look at what belongs to the thread. */
  private static String text(Cell cell, Object given) {
    return cell.mayLogContents() ? Lines.text(given) : MessageTexts.typeName(given);
  }

  private static String describe(Decision decision) {
    if (decision.verdict() == Verdict.STOP) return "it stops";
    return (decision.verdict() == Verdict.RESUME ? "it goes on" : "it restarts")
        + (decision.pause() > 0 ? " in " + Durations.textOfNanos(decision.pause()) : "");
  }

  private static void count(HandlerContext context, Throwable failure) {
    var cell = context.cell;
    var extras = cell.ownCounts();
    context.countOutcome(EngineMessage.unwrap(context.message), true);
    var reason = RequestFailures.requestExceptionIn(failure) == null ? Reason.FAILED : Reason.NESTED_REQUEST_FAILED;
    if (extras != null && reason == Reason.FAILED) extras.failed++;
    if (context.request != null) cell.owner().accounts().countUnhandled(reason);
    else DeadLetters.add(cell, context.message, reason, failure);
  }

  /** Returns null if the scope decides. */
  private static Decision ownDecision(Cell cell, FailurePolicy policy) {
    // no switch: at the edge of a stack, its hidden class could fail to load
    if (policy.kind() == Kind.RESUME && policy.backoff().isEmpty()) return Decision.RESUME;
    if (policy.kind() == Kind.STOP) return Decision.STOP;
    if (policy.kind() != Kind.RESTART && policy.kind() != Kind.RESUME) return null;
    long pause = cell.extras().restarts().next(policy, cell.owner().options().scheduler().nanoTime());
    if (policy.kind() == Kind.RESUME) return new Decision(Verdict.RESUME, pause);
    return pause == RestartBudget.EXCEEDED ? null : new Decision(Verdict.RESTART, pause);
  }

  private static void suspend(HandlerContext context, long pause) {
    if (pause > 0) context.cell.extras().pauseFor(pause);
    context.suspendNext = pause > 0;
  }

  /** Drops the state, and brings back the stash; a suspension follows, even where this throws. */
  static void restart(HandlerContext context, Throwable cause, long pause) {
    suspend(context, pause);
    dropState(context.cell, "at its restart");
    context.emptyStash();
    JfrEvents.recordRestart(context.cell, cause, pause);
    var other = Environment.simulated;
    if (cause == null && other != null)
      other.noteEvent(context.cell.publicCell(), () -> "restarts, since another actor failed");
  }

  public static void dropState(Cell cell, String when) {
    try {
      cell.behavior.stop(cell);
    } catch (Throwable failure) {
      EngineLog.LOG.error("the stop hook of actor '{}' failed {}", cell.name(), when, failure);
    } finally {
      cell.state = null;
      cell.hasState = false;
    }
  }
}
