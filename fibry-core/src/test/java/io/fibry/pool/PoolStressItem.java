package io.fibry.pool;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.Waits;
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
  int payload; // plain: written before the send
  volatile boolean refused; // the send returned false
  volatile Throwable thrown; // by a request
  volatile CompletableFuture<Integer> future;
  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger done = new AtomicInteger();
  final AtomicInteger letters = new AtomicInteger();
  volatile Reason letter;

  PoolStressItem(PoolStressRound round, int sender, int number, Kind kind, int weight, int key, boolean fails) {
    this.round = round;
    this.sender = sender;
    this.number = number;
    this.kind = kind;
    this.weight = kind == Kind.TASK ? 1 : weight;
    this.key = key;
    this.fails = fails;
  }

  boolean request() {
    return kind.ordinal() >= Kind.ASK.ordinal();
  }

  @Override
  public void run() {
    round.handle(null, this, null);
  }

  /** Waits for the answer. */
  void settle() throws InterruptedException {
    if (future != null) thrown = Waits.failure(future, number);
  }

  boolean hasOutcome() {
    return kind != Kind.TIMER || done.get() + letters.get() > 0;
  }

  /** The fault in its outcome, or null. */
  String fault() {
    int begins = begun.get();
    if (begins > 1 && !(fails && begins <= 1 + round.retries)) return "was handed to a handler " + begins + " times";
    if (done.get() + letters.get() > 1) return "has " + done + " handled and " + letters + " dead letters";
    if (refused && begins > 0) return "was refused and handled";
    return request() ? requestFault(begins) : messageFault(begins);
  }

  private String messageFault(int begins) {
    if (kind != Kind.TIMER && done.get() + letters.get() == 0)
      return "disappeared, begun " + begins + ", refused " + refused;
    if (letters.get() == 1 && (letter == Reason.FAILED) != (begins > 0))
      return "is a dead letter of reason " + letter + " and was begun " + begins + " times";
    if (refused && letters.get() == 0) return "was refused and is no dead letter";
    return null;
  }

  private String requestFault(int begins) {
    if (letters.get() > 0) return "is a request and a dead letter";
    var answer = future;
    if (answer != null && !answer.isDone()) return "is incomplete";
    return switch (thrown) {
      case null -> begins == 1 && !fails ? null : "got a value though begun " + begins + " times, fails=" + fails;
      case PoolStressRound.Planned planned -> begins > 0 && fails ? null
          : "got the failure of a handler though begun " + begins + " times";
      case MailboxFullException full -> begins == 0 ? null : "was told full and was handled";
      case ActorStoppedException stopped -> begins == 0 ? null : "was told stopped and was handled";
      case AskTimeoutException late -> kind == Kind.ASK_SHORT ? null : "waited to its limit";
      case CancellationException cancelled -> kind == Kind.FUTURE_CANCELLED ? null : "was cancelled by nobody";
      default -> "got " + thrown + java.util.List.of(thrown.getStackTrace());
    };
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
