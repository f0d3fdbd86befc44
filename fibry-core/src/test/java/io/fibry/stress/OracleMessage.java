package io.fibry.stress;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.testing.StressRuns;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A message of an {@link OracleRound}. It records how often its handlers began and ended, and the
 * outcome that its sender got.
 */
final class OracleMessage implements Request<OracleMessage, Long>, Comparable<OracleMessage> {
  enum Kind { MESSAGE, LATER, FUTURE, CANCELLED_FUTURE, ASK, SHORT_ASK }

  /** The failure that a handler throws for each planned failure of its message. */
  static final class Planned extends Exception {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  final long number;
  final Kind kind;
  final int target; // index in the targets of the round
  final int plannedFailures; // how often its handlers throw before a handler returns
  final int retries; // of the failure policy of its actor
  final AtomicInteger handlerBegins = new AtomicInteger();
  final AtomicInteger handlerReturns = new AtomicInteger();
  final AtomicInteger handlerFailures = new AtomicInteger();
  final AtomicInteger letterCount = new AtomicInteger();
  volatile DeadLetter.Reason letterReason;
  volatile boolean refused; // its sender was notified of the refusal
  volatile Throwable failure; // its sender got this instead of a value
  volatile CompletableFuture<Long> future;

  OracleMessage(long number, Kind kind, int target, int plannedFailures, int retries) {
    this.number = number;
    this.kind = kind;
    this.target = target;
    this.plannedFailures = plannedFailures;
    this.retries = retries;
  }

  boolean isRequest() {
    return kind.ordinal() >= Kind.FUTURE.ordinal();
  }

  /** If the message has a future, waits until the future is complete, and records its failure. */
  void settle() throws InterruptedException {
    if (future == null) return;
    StressRuns.runWithState(() -> StressRuns.awaitOutcome(future), this::toString);
    failure = StressRuns.failure(future, number);
  }

  /**
   * Returns whether the message has an outcome. The message of a timer needs no outcome, because
   * its actor may end before the timer sends.
   */
  boolean isSettled() {
    return handlerBegins.get() == handlerReturns.get() + handlerFailures.get()
        && (isRequest() || refused || kind == Kind.LATER || handlerReturns.get() + letterCount.get() > 0);
  }

  /**
   * Returns a text about a contradiction between the sender's outcome and the work of the handlers.
   * Returns null if there is no contradiction.
   */
  String fault(boolean isEntity, boolean endedByForce, boolean hasInterrupts) {
    int starts = handlerBegins.get();
    if (starts != handlerReturns.get() + handlerFailures.get()) return "has a handler that does not end";
    if (handlerReturns.get() > 1) return "returned twice";
    if (starts > 1 + retries) return "was begun " + starts + " times, with " + retries + " retries";
    if (handlerReturns.get() == 1 && handlerFailures.get() != plannedFailures)
      return "returned after " + handlerFailures + " failures";
    if (refused && starts > 0) return "was refused and begun";
    if (isEntity && failure != null && (failure.getClass() == IllegalStateException.class || gotNoThread()))
      return starts == 0 ? null : "was begun, though its entity could not be created";
    return isRequest() ? requestFault(starts, endedByForce, hasInterrupts) : messageFault(starts, isEntity);
  }

  private boolean gotNoThread() {
    return failure instanceof RejectedExecutionException;
  }

  /**
   * Ignores a refused message of an entity. If no entity could be created, the dead letter does not
   * belong to the scope of the round.
   */
  private String messageFault(int starts, boolean isEntity) {
    if (refused && isEntity) return null;
    int deadLetters = letterCount.get();
    if (handlerReturns.get() + deadLetters > 1)
      return "returned " + handlerReturns + " times, with " + deadLetters + " dead letters";
    if (refused && deadLetters == 0) return "was refused, and is no dead letter";
    if (deadLetters == 1 && (letterReason == DeadLetter.Reason.FAILED) != (starts > 0))
      return "is a dead letter of reason " + letterReason + ", begun " + starts + " times";
    return isSettled() ? null : "disappeared";
  }

  private String requestFault(int starts, boolean endedByForce, boolean hasInterrupts) {
    if (letterCount.get() > 0) return "is a request, and a dead letter";
    boolean failed = handlerFailures.get() > 0 && handlerReturns.get() == 0;
    return switch (failure) {
      case null -> handlerReturns.get() == 1 ? null : "got a value and did not return";
      case Planned failureOfHandler -> failed ? null
          : "got a failure, with " + handlerFailures + " failures, " + handlerReturns + " returns";
      case MailboxFullException rejection -> starts == 0 ? null : "got a MailboxFullException, and was begun";
      // a kill interrupts handlers that have begun, and their askers get this exception
      case ActorStoppedException stop -> starts == 0 || endedByForce ? null
          : "got an ActorStoppedException, and was begun";
      case AskTimeoutException timeout when timeout.getMessage().contains("will not") -> starts == 0 ? null
          : "got a time-out without handling, and was begun: " + timeout.getMessage();
      case AskTimeoutException timeout -> kind == Kind.SHORT_ASK ? null
          : "waited until its limit: " + timeout.getMessage();
      case CancellationException cancellation -> kind == Kind.CANCELLED_FUTURE || hasInterrupts ? null
          : "was cancelled without a cause";
      default -> "got " + failure;
    };
  }

  @Override
  public int compareTo(OracleMessage other) {
    return Long.compare(number & 3, other.number & 3);
  }

  @Override
  public String toString() {
    return kind + " " + number + " (" + handlerBegins + " begun, " + handlerReturns + " returned, " + handlerFailures
        + " threw, " + letterCount + " letters, failure " + failure + ")";
  }
}
