package io.fibry.stress;

import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** A message of an {@link OracleRound}, whose handlers may fail before one of them returns. */
final class OracleMessage extends SentMessage<OracleMessage> implements Comparable<OracleMessage> {
  final int target; // index in the targets of the round
  final int plannedFailures; // how often its handlers throw before a handler returns
  final int retries; // of the failure policy of its actor
  final AtomicInteger handlerFailures = new AtomicInteger();

  OracleMessage(int number, Kind kind, int target, int plannedFailures, int retries) {
    super(number, kind);
    this.target = target;
    this.plannedFailures = plannedFailures;
    this.retries = retries;
  }

  @Override
  protected boolean pauseBeforeCancel(SplittableRandom random) {
    OracleRound.jitter(random.nextInt(50_000));
    return true;
  }

  @Override
  public boolean isSettled() {
    return handlerBegins.get() == handlerReturns.get() + handlerFailures.get() && (refused || super.isSettled());
  }

  /**
   * Returns a text about a contradiction between the sender's outcome and the work of the handlers.
   * Returns null if there is no contradiction.
   */
  String violation(boolean isEntity, boolean endedByForce, boolean hasInterrupts) {
    int starts = handlerBegins.get();
    int returns = handlerReturns.get();
    if (starts != returns + handlerFailures.get()) return "has a handler that does not end";
    if (returns == 1 && handlerFailures.get() != plannedFailures)
      return "returned after " + handlerFailures + " failures";
    String violation = countViolation(1 + retries);
    if (violation != null) return violation;
    if (isEntity && failure != null && (failure.getClass() == IllegalStateException.class || gotNoThread()))
      return starts == 0 ? null : "was begun, though its entity could not be created";
    if (isRequest())
      return requestFault(returns == 1, returns == 0 && handlerFailures.get() > 0, endedByForce, hasInterrupts);
    // if no entity could be created, the dead letter does not belong to the scope of the round
    return refused && isEntity ? null : messageFault();
  }

  private boolean gotNoThread() {
    return failure instanceof RejectedExecutionException;
  }

  @Override
  public int compareTo(OracleMessage other) {
    return Integer.compare(number & 3, other.number & 3);
  }

  @Override
  public String toString() {
    return kind + " " + number + " (" + handlerBegins + " begun, " + handlerReturns + " returned, " + handlerFailures
        + " threw, " + letterCount + " letters, failure " + failure + ")";
  }
}
