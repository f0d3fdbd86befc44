package io.fibry.pool;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.testing.StressRuns;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** A message or task for a pool under stress, and its outcome. */
final class PoolStressItem implements Request<PoolStressItem, Integer>, Runnable {
  enum Kind { TELL, TASK, TIMER, ASK, ASK_SHORT, FUTURE, FUTURE_CANCELLED }

  final PoolStressRound round;
  final int sender;
  final int number;
  final Kind kind;
  final int weight;
  final int key;
  final boolean fails;
  int payload; // not volatile: written before the send, read by the handler
  volatile boolean refused; // whether the send returned false
  volatile Throwable failure; // the failure of the request, or null
  volatile CompletableFuture<Integer> future;
  final AtomicInteger beginCount = new AtomicInteger();
  final AtomicInteger handledCount = new AtomicInteger();
  final AtomicInteger letterCount = new AtomicInteger();
  volatile Reason letterReason;

  PoolStressItem(PoolStressRound round, int sender, int number, Kind kind, int weight, int key, boolean fails) {
    this.round = round;
    this.sender = sender;
    this.number = number;
    this.kind = kind;
    this.weight = kind == Kind.TASK ? 1 : weight;
    this.key = key;
    this.fails = fails;
  }

  boolean isRequest() {
    return kind.ordinal() >= Kind.ASK.ordinal();
  }

  @Override
  public void run() {
    round.handle(null, this, null);
  }

  /** Waits until the future is complete, and records its failure. */
  void settle() throws InterruptedException {
    if (future != null) failure = StressRuns.failure(future, number);
  }

  boolean hasOutcome() {
    return kind != Kind.TIMER || handledCount.get() + letterCount.get() > 0;
  }

  /** Returns a description of the wrong outcome of this item, or null if its outcome is right. */
  String fault() {
    int begins = beginCount.get();
    if (begins > 1 && !(fails && begins <= 1 + round.retries)) return "was handed to a handler " + begins + " times";
    if (handledCount.get() + letterCount.get() > 1)
      return "was handled " + handledCount + " times and has " + letterCount + " dead letters";
    if (refused && begins > 0) return "was refused and handled";
    return isRequest() ? requestFault(begins) : messageFault(begins);
  }

  private String messageFault(int begins) {
    if (kind != Kind.TIMER && handledCount.get() + letterCount.get() == 0)
      return "has no outcome; it was begun " + begins + " times, refused: " + refused;
    if (letterCount.get() == 1 && (letterReason == Reason.FAILED) != (begins > 0))
      return "is a dead letter of reason " + letterReason + " and was begun " + begins + " times";
    if (refused && letterCount.get() == 0) return "was refused and is no dead letter";
    return null;
  }

  private String requestFault(int begins) {
    if (letterCount.get() > 0) return "is a request and a dead letter";
    var answer = future;
    if (answer != null && !answer.isDone()) return "is incomplete";
    return switch (failure) {
      case null -> begins == 1 && !fails ? null : "got a value though begun " + begins + " times, fails=" + fails;
      case PoolStressRound.Planned planned -> begins > 0 && fails ? null
          : "got the failure of a handler though begun " + begins + " times";
      case MailboxFullException full -> begins == 0 ? null : "failed because of a full mailbox, but was handled";
      case ActorStoppedException stopped -> begins == 0 ? null : "failed because the pool had ended, but was handled";
      case AskTimeoutException timeout -> kind == Kind.ASK_SHORT ? null : "timed out after the long limit";
      case CancellationException cancelled -> kind == Kind.FUTURE_CANCELLED ? null
          : "is cancelled, but no sender cancelled it";
      default -> "got " + failure + java.util.List.of(failure.getStackTrace());
    };
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
