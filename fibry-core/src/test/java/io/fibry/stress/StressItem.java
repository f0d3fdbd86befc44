package io.fibry.stress;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.testing.StressRuns;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A numbered message of a stress round, which records its outcome. If it is sent as a task, it
 * calls the handler itself.
 */
final class StressItem implements Request<StressItem, Integer>, Runnable {
  enum Kind { TELL, BATCH, TASK, TIMER, ASK, ASK_SHORT, FUTURE, FUTURE_CANCELLED }

  final StressRound round;
  final int sender;
  final int number;
  final Kind kind;
  final boolean fails;
  int payload; // plain: written by the sender before sending, read by the handler
  volatile boolean refused; // the sender was notified of the refusal
  volatile Throwable failure; // the failure that a request got instead of a value
  volatile CompletableFuture<Integer> future;
  final AtomicInteger handlerBegins = new AtomicInteger();
  final AtomicInteger completions = new AtomicInteger();
  final AtomicInteger letterCount = new AtomicInteger();
  volatile DeadLetter.Reason letterReason;
  volatile boolean received; // a handler took the message by `receive`

  StressItem(StressRound round, int sender, int number, Kind kind, boolean fails) {
    this.round = round;
    this.sender = sender;
    this.number = number;
    this.kind = kind;
    this.fails = fails;
  }

  boolean isRequest() {
    return kind.ordinal() >= Kind.ASK.ordinal();
  }

  int rank() {
    return number & 1;
  }

  @Override
  public void run() {
    round.handle(this, null);
  }

  void settle() throws InterruptedException {
    if (future != null) failure = StressRuns.failure(future, number);
  }

  /**
   * Returns a text about a contradiction between the recorded outcomes of this message, or null.
   */
  String fault() {
    int starts = handlerBegins.get();
    int deadLetters = letterCount.get();
    int completed = completions.get();
    if (starts > 1) return "was passed to a handler " + starts + " times";
    if (completed + deadLetters > 1) return "has " + completed + " handled and " + deadLetters + " dead letters";
    if (refused && starts > 0) return "was refused and handled";
    return isRequest() ? requestFault(starts, deadLetters) : messageFault(starts, deadLetters, completed);
  }

  /**
   * Returns whether the message has an outcome. Always true for the message of a timer, whose actor
   * may end before the timer sends, and for a request, whose outcome the sender or the round
   * awaits.
   */
  boolean isSettled() {
    return isRequest() || kind == Kind.TIMER || completions.get() + letterCount.get() > 0;
  }

  private String messageFault(int starts, int deadLetters, int completed) {
    if (!isSettled()) return "disappeared";
    if (deadLetters == 1 && (letterReason == DeadLetter.Reason.FAILED) != (starts == 1))
      return "is a dead letter of reason " + letterReason + " and was begun " + starts + " times";
    if (refused && deadLetters == 0) return "was refused and is no dead letter";
    return null;
  }

  private String requestFault(int starts, int deadLetters) {
    if (deadLetters > 0) return "is a request and a dead letter";
    var answer = future;
    if (answer != null && !answer.isDone()) return "is incomplete";
    return switch (failure) {
      case null -> starts == 1 && !fails ? null : "got a value though begun " + starts + " times, fails=" + fails;
      case StressRound.Planned failureOfHandler -> starts == 1 && fails ? null
          : "got the failure of a handler though begun " + starts + " times";
      case MailboxFullException rejection -> starts == 0 ? null : "got a MailboxFullException and was handled";
      case ActorStoppedException stop -> starts == 0 || round.isKilled() ? null
          : "got an ActorStoppedException and was handled";
      case AskTimeoutException timeout -> kind == Kind.ASK_SHORT ? null : "waited until its limit";
      case CancellationException cancellation -> kind == Kind.FUTURE_CANCELLED || round.interrupts ? null
          : "was cancelled without a cause";
      default -> "got " + failure + java.util.List.of(failure.getStackTrace());
    };
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
