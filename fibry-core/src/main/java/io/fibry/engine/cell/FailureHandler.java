package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.FailurePolicy.Kind;
import io.fibry.RequestException;
import io.fibry.engine.cell.OwningScope.Decision;
import io.fibry.engine.cell.OwningScope.Verdict;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.util.concurrent.CancellationException;

/**
 * Decides by the failure policy what happens to an actor whose handler threw.
 *
 * <p>The decision for the drain is a number, so that a message that does not fail allocates
 * nothing. {@link #CONTINUE}: the drain continues with the next node. A pause in nanoseconds: the
 * drain suspends the actor for so long, and then continues with the next node. A negative number:
 * the drain handles the message again, after a pause that may be zero. {@link #redeliverAfter}
 * makes the negative number of a pause, and {@link #pause} returns its pause.
 */
public final class FailureHandler {
  static final long CONTINUE = 0;
  private static final String ENDING = "it is ending"; // the consequence that a log line states

  private FailureHandler() {}

  static long redeliverAfter(long pause) {
    return ~pause;
  }

  static boolean isRedelivery(long decision) {
    return decision < 0;
  }

  static long pause(long decision) {
    return decision < 0 ? ~decision : decision;
  }

  /** Returns whether the JVM failed, for example for lack of memory, or the thread must die. */
  private static boolean isFatal(Throwable failure) {
    return failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError)
        || failure.getClass().getName().equals("java.lang.ThreadDeath");
  }

  /**
   * Returns whether the handler failed because its request to another actor failed, and the policy
   * has no rule for such failures.
   */
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

  /** Returns the policy for this failure, or stop() if the user's function in the policy throws. */
  public static FailurePolicy resolve(FailurePolicy policy, Throwable failure, String actor) {
    try {
      return policy.resolve(failure);
    } catch (Throwable policyFailure) {
      EngineLog.log().error("the failure policy of {} could not decide about {}; stop() applies instead", actor,
          MessageTexts.describe(failure),
          policyFailure);
      return FailurePolicy.stop();
    }
  }

  /**
   * Applies the policy after the last retry: logs the failure, and resumes, restarts or stops the
   * actor. If the message is not redelivered, fails its request and the requests that the handler
   * took with {@code context.receive}, and counts the failure. If the message is redelivered, fails
   * only the requests that the handler took. Returns the decision for the drain. If this method
   * throws, the actor continues without a pause.
   */
  static long handle(Activation context, Throwable failure, FailurePolicy policy) {
    var cell = context.cell;
    Object message = EngineMessage.unwrap(context.message);
    if (cell.isEnding()) {
      failRequests(context, failure);
      boolean isInterruption = failure instanceof InterruptedException || failure instanceof CancellationException;
      if (!isInterruption) report(cell, message, failure, ENDING);
      if (policy.isLogged() && !isInterruption || isFatal(failure)) log(cell, message, failure, ENDING, policy);
      return CONTINUE;
    }
    int maxRedeliveries = policy.redeliveries();
    if (maxRedeliveries == 0) failRequests(context, failure); // first, because the scope's decision may call user code
    var ownDecision = ownDecision(cell, policy);
    var decision = ownDecision != null ? ownDecision : cell.owner().decide(cell.publicCell(), cell, failure);
    boolean resumes = ownDecision != null && decision.verdict() == Verdict.RESUME;
    int redelivery = maxRedeliveries > 0 && (resumes || decision.verdict() == Verdict.RESTART)
        ? context.redeliver(maxRedeliveries) : 0;
    if (redelivery > 0 && context.receivedRequests != null) context.failReceivedRequests(failure);
    else if (maxRedeliveries > 0 && redelivery == 0) failRequests(context, failure);
    String consequence = (ownDecision != null ? "" : "its scope '" + cell.owner().name() + "' decides: ")
        + describe(decision);
    report(cell, message, failure, consequence);
    if (decision.verdict() == Verdict.RESTART) restart(context, failure, decision.pause());
    else if (decision.verdict() == Verdict.STOP) cell.stopAccepting(new ExitReason.Failed(failure));
    if (policy.isLogged() && redelivery > 0)
      EngineLog.log().warn("actor '{}' failed at {}; {} and handles the message again: redelivery {} of {}; {}",
          cell.name(), text(cell, message), consequence, redelivery, maxRedeliveries, MessageTexts.describe(failure));
    else if (policy.isLogged()) log(cell, message, failure, consequence, policy);
    return redelivery > 0 ? redeliverAfter(decision.pause()) : decision.pause();
  }

  /** Fails the requests that the handler has not answered, and counts the failure. */
  private static void failRequests(HandlerContext context, Throwable cause) {
    var requestException = RequestFailures.requestExceptionIn(cause);
    var failure = requestException != null ? requestException : cause; // without the wrapper that a future adds
    if (context.request != null && context.request.isUnanswered())
      context.fail(context.request, EngineMessage.unwrap(context.message), failure);
    if (context.receivedRequests != null) context.failReceivedRequests(failure);
    if (!context.stashed) count(context, failure);
  }

  /** Reports a failure to statistics, the flight recorder and a simulation. */
  private static void report(Cell cell, Object message, Throwable failure, String consequence) {
    keep(cell.publicCell(), failure);
    JfrEvents.recordFailure(cell, message, failure);
    var simulation = Environment.simulated;
    if (simulation != null)
      simulation.recordEvent(cell.publicCell(),
          () -> "failed at " + text(cell, message) + "; " + consequence + "; " + MessageTexts.describe(failure));
  }

  private static void keep(Cell cell, Throwable failure) {
    try {
      StackProbe.probe(); // a map whose change fails halfway would be broken
      cell.owner().keepFailure(cell.name(), failure, DeadLetters.timeOf(cell.owner()));
    } catch (VirtualMachineError noSpace) {} // the failure is then missing only in statistics
  }

  /**
   * Logs a failure. An actor that continues may fail at each message, so equal failures share a
   * line.
   */
  private static void log(Cell cell, Object message, Throwable failure, String consequence, FailurePolicy policy) {
    int omitted = 0;
    var requestException = isNestedRequestFailure(cell, failure) ? RequestFailures.requestExceptionIn(failure) : null;
    if (requestException != null)
      omitted = cell.owner().failureLog().admit(RequestException.class, requestException.actor(), System.nanoTime());
    else if (policy.kind() == Kind.RESUME || policy.kind() == Kind.RESTART)
      omitted = cell.owner().failureLog().admit(failure, System.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    String omittedText = omitted == 0 ? "" : "; not logged: " + Lines.count(omitted, "more such failure");
    if (requestException != null)
      EngineLog.log().warn("actor '{}' could not finish {}: {}{}", cell.name(), text(cell, message),
          Lines.escaped(String.valueOf(requestException.getMessage())), omittedText);
    else logFailure(cell, message, failure, consequence + omittedText);
  }

  /** Logs the failure with its stack, unless the connection that has asked was quicker. */
  private static void logFailure(Cell cell, Object message, Throwable failure, String consequence) {
    var entry = FailureLog.entryWithStack(failure, "actor '" + cell.name() + "'", true, System.nanoTime());
    if (entry == null)
      EngineLog.log().error("actor '{}' failed at {}; {}", cell.name(), text(cell, message), consequence, failure);
    else EngineLog.log().error("actor '{}' failed at {}; {}; the entry of {} has the stack: {}", cell.name(),
        text(cell, message), consequence, entry, MessageTexts.describe(failure));
  }

  /**
   * Returns the text of a message. Runs on the thread of the handler, because the message's
   * toString may read thread-locals.
   */
  private static String text(Cell cell, Object message) {
    return cell.mayLogContents() ? Lines.text(message) : MessageTexts.typeName(message);
  }

  private static String describe(Decision decision) {
    if (decision.verdict() == Verdict.STOP) return "it stops";
    return (decision.verdict() == Verdict.RESUME ? "it continues" : "it restarts")
        + (decision.pause() > 0 ? " in " + Durations.textOfNanos(decision.pause()) : "");
  }

  private static void count(HandlerContext context, Throwable failure) {
    var cell = context.cell;
    context.countOutcome(EngineMessage.unwrap(context.message), true);
    var reason = RequestFailures.requestExceptionIn(failure) == null ? Reason.FAILED : Reason.NESTED_REQUEST_FAILED;
    if (reason == Reason.FAILED) cell.addToOwnCounts(0, 1);
    if (context.request != null) cell.owner().accounts().countUnhandled(reason);
    else DeadLetters.add(cell, context.message, reason, failure);
  }

  /** Returns the decision of the actor's own policy. Returns null if the scope must decide. */
  private static Decision ownDecision(Cell cell, FailurePolicy policy) {
    // no switch, because its table is in another class, which a nearly full stack could keep from
    // loading
    if (policy.kind() == Kind.RESUME && policy.backoff().isEmpty()) return Decision.RESUME;
    if (policy.kind() == Kind.STOP) return Decision.STOP;
    if (policy.kind() != Kind.RESTART && policy.kind() != Kind.RESUME) return null;
    var counted = policy.budget().isPresent() ? cell.budgetOwner() : cell;
    long pause = counted.extras().recovery().countRestart(policy, cell.owner().options().scheduler());
    if (pause == RestartBudget.EXCEEDED) return null;
    return new Decision(policy.kind() == Kind.RESUME ? Verdict.RESUME : Verdict.RESTART, pause);
  }

  /**
   * Drops the state and puts stashed messages back.
   *
   * @param pause nanoseconds for which the caller then suspends the actor
   */
  static void restart(HandlerContext context, Throwable cause, long pause) {
    context.cell.dropState("at its restart");
    context.putBackStash();
    countRestart(context.cell);
    JfrEvents.recordRestart(context.cell, cause, pause);
    var simulation = Environment.simulated;
    if (cause == null && simulation != null)
      simulation.recordEvent(context.cell.publicCell(), () -> "restarts, because another actor failed");
  }

  private static void countRestart(Cell cell) {
    cell.owner().accounts().countRestart();
    try {
      cell.publicCell().extras().recovery().addRestart();
    } catch (OutOfMemoryError noMemory) {} // the restart is then missing only in the actor's own count
  }
}
