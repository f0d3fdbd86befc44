package io.fibry.stress;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A numbered message of a random program, which records the work of its handlers and the outcome
 * that its sender gets. Both must agree after the program.
 *
 * @param <M> the type of the messages of the program
 */
public abstract class SentMessage<M extends SentMessage<M>> implements Request<M, Integer> {
  /** How a message is sent; the last four are requests. */
  public enum Kind {
    TELL, BATCH, TASK, TIMER, ASK, ASK_SHORT, FUTURE, FUTURE_CANCELLED
  }

  /** The failure that a handler throws if its message is to fail. */
  public static final class Planned extends Exception {
    private static final long serialVersionUID = 1;

    private Planned() {
      super("planned", null, false, false);
    }
  }

  public static final Planned PLANNED = new Planned();

  public final int number;
  public final Kind kind;
  public int payload; // plain: written by the sender before sending, read by the handler
  public final AtomicInteger handlerBegins = new AtomicInteger();
  public final AtomicInteger handlerReturns = new AtomicInteger(); // without failures
  public final AtomicInteger letterCount = new AtomicInteger();
  public volatile DeadLetter.Reason letterReason;
  public volatile boolean refused; // the sender was notified of the refusal
  public volatile Throwable failure; // the failure that a request got instead of a value
  public volatile CompletableFuture<Integer> future;

  protected SentMessage(int number, Kind kind) {
    this.number = number;
    this.kind = kind;
  }

  public boolean isRequest() {
    return kind.ordinal() >= Kind.ASK.ordinal();
  }

  /** The listener for dead letters of a program. */
  public static void recordLetter(DeadLetter letter) {
    var message = (SentMessage<?>) letter.message();
    message.letterReason = letter.reason();
    message.letterCount.incrementAndGet();
  }

  @SuppressWarnings("unchecked") // infers an unchecked T, so that a method without `throws` can throw PLANNED
  public static <T extends Throwable> void throwPlanned() throws T {
    throw (T) PLANNED;
  }

  // ---- on the thread of the sender

  /** Sends the message as its kind says. A short ask has a limit below this number of ns. */
  public void send(Actor<? super M> actor, SplittableRandom random, int shortNanos) {
    switch (kind) {
      case TELL, BATCH -> refused = !actor.sendMessage(self());
      case TASK -> execute(actor);
      case TIMER -> actor.sendMessageLater(self(), Duration.ofNanos(random.nextInt(1_000_000)));
      case ASK -> ask(actor, omitsLimit(random) ? null : Patience.LONG);
      case ASK_SHORT -> ask(actor, Duration.ofNanos(1 + random.nextInt(shortNanos)));
      case FUTURE -> future = actor.sendMessageReturn(this);
      case FUTURE_CANCELLED -> {
        future = actor.sendMessageReturn(this);
        future.cancel(pauseBeforeCancel(random));
      }
    }
  }

  /** Returns whether an ask has only the limit of its scope. */
  protected boolean omitsLimit(SplittableRandom random) {
    return false;
  }

  /** Pauses, and returns the argument of the cancel that follows. */
  protected abstract boolean pauseBeforeCancel(SplittableRandom random);

  @SuppressWarnings("unchecked") // M is the type of this message
  private M self() {
    return (M) this;
  }

  private void execute(Actor<? super M> actor) {
    try {
      actor.execute((Runnable) this);
    } catch (RejectedExecutionException refusal) {
      refused = true;
    }
  }

  private void ask(Actor<? super M> actor, Duration limit) {
    try {
      recordAnswer(limit == null ? actor.ask(this) : actor.ask(this, limit));
    } catch (Throwable thrown) {
      failure = thrown instanceof CancellationException && !Thread.currentThread().isInterrupted()
          ? new AssertionError("interrupted, and the interrupt flag is lost")
          : thrown;
    }
  }

  // ---- after the program

  /** Waits until the future, if any, is complete, and records its failure. */
  public void settle() throws InterruptedException {
    if (future == null) return;
    StressRuns.runWithState(() -> StressRuns.awaitOutcome(future), this::toString);
    try {
      recordAnswer(future.get());
    } catch (ExecutionException thrown) {
      failure = thrown.getCause();
    } catch (CancellationException cancellation) {
      failure = cancellation;
    }
  }

  private void recordAnswer(int answer) {
    if (answer != number) failure = new AssertionError("got the answer " + answer);
  }

  /**
   * Returns whether the message has an outcome. Always true for the message of a timer, whose actor
   * may end before the timer sends, and for a request, whose outcome the program awaits.
   */
  public boolean isSettled() {
    return isRequest() || kind == Kind.TIMER || handlerReturns.get() + letterCount.get() > 0;
  }

  /** Returns a text about wrong counts of handlers and dead letters, or null. */
  protected String countViolation(int maxBegins) {
    int begins = handlerBegins.get();
    if (begins > maxBegins) return "was begun " + begins + " times, of at most " + maxBegins;
    if (handlerReturns.get() + letterCount.get() > 1)
      return "has " + handlerReturns + " returned handlers and " + letterCount + " dead letters";
    return refused && begins > 0 ? "was refused and begun" : null;
  }

  /** Returns a text about a contradiction in the outcome of a message without answer, or null. */
  protected String messageFault() {
    if (!isSettled()) return "disappeared, begun " + handlerBegins + " times, refused: " + refused;
    if (letterCount.get() == 1 && (letterReason == DeadLetter.Reason.FAILED) != (handlerBegins.get() > 0))
      return "is a dead letter of reason " + letterReason + " and was begun " + handlerBegins + " times";
    return refused && letterCount.get() == 0 ? "was refused and is no dead letter" : null;
  }

  /**
   * Returns a text if the work of the handlers contradicts the outcome of a request, or null.
   *
   * @param hasAnswered whether a handler gave the answer
   * @param hasFailed whether the last handler failed
   * @param mayBeCutOff whether the actor may stop after a handler has begun
   * @param mayBeInterrupted whether the asker may have been interrupted
   */
  protected String requestFault(boolean hasAnswered, boolean hasFailed, boolean mayBeCutOff, boolean mayBeInterrupted) {
    if (letterCount.get() > 0) return "is a request and a dead letter";
    var answer = future;
    if (answer != null && !answer.isDone()) return "is incomplete";
    boolean wasBegun = handlerBegins.get() > 0;
    return switch (failure) {
      case null -> hasAnswered ? null : "got a value without an answer, begun " + handlerBegins + " times";
      case Planned failureOfHandler -> hasFailed ? null
          : "got the failure of a handler, begun " + handlerBegins + " times";
      case MailboxFullException rejection -> wasBegun ? "got a MailboxFullException and was begun" : null;
      case ActorStoppedException stop -> wasBegun && !mayBeCutOff ? "got an ActorStoppedException and was begun" : null;
      case AskTimeoutException timeout when timeout.getMessage().contains("will not") -> wasBegun
          ? "got a time-out without handling, and was begun: " + timeout.getMessage() : null;
      case AskTimeoutException timeout -> kind == Kind.ASK_SHORT ? null
          : "waited until its limit: " + timeout.getMessage();
      case CancellationException cancellation -> kind == Kind.FUTURE_CANCELLED || mayBeInterrupted ? null
          : "was cancelled without a cause";
      default -> "got " + failure + List.of(failure.getStackTrace());
    };
  }
}
