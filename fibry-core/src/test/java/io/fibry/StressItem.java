package io.fibry;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** One numbered message of a stress round, and its outcome. As a task, it handles itself. */
final class StressItem implements Request<StressItem, Integer>, Runnable {
  enum Kind { TELL, BLOCK, TASK, TIMER, ASK, ASK_SHORT, FUTURE, FUTURE_CANCELLED }

  final StressRound round;
  final int sender;
  final int number;
  final Kind kind;
  final boolean fails;
  int payload; // plain: written before sending, read by the handler
  volatile boolean refused; // the sender was told that it was refused
  volatile Throwable thrown; // what a request got instead of a value
  volatile CompletableFuture<Integer> future;
  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger done = new AtomicInteger();
  final AtomicInteger letters = new AtomicInteger();
  volatile DeadLetter.Reason letter;
  volatile boolean received; // received and answered by a handler

  StressItem(StressRound round, int sender, int number, Kind kind, boolean fails) {
    this.round = round;
    this.sender = sender;
    this.number = number;
    this.kind = kind;
    this.fails = fails;
  }

  boolean request() {
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
    if (future != null) thrown = Waits.failure(future, number);
  }

  /** The fault in its account, or null. */
  String fault() {
    int begins = begun.get();
    int dead = letters.get();
    int good = done.get();
    if (begins > 1) return "was handed to a handler " + begins + " times";
    if (good + dead > 1) return "has " + good + " handled and " + dead + " dead letters";
    if (refused && begins > 0) return "was refused and handled";
    return request() ? requestFault(begins, dead) : messageFault(begins, dead, good);
  }

  /** A timer may end with its actor, before it sends its message. */
  boolean isSettled() {
    return request() || kind == Kind.TIMER || done.get() + letters.get() > 0;
  }

  private String messageFault(int begins, int dead, int good) {
    if (!isSettled()) return "disappeared";
    if (dead == 1 && (letter == DeadLetter.Reason.FAILED) != (begins == 1))
      return "is a dead letter of reason " + letter + " and was begun " + begins + " times";
    if (refused && dead == 0) return "was refused and is no dead letter";
    return null;
  }

  private String requestFault(int begins, int dead) {
    if (dead > 0) return "is a request and a dead letter";
    var answer = future;
    if (answer != null && !answer.isDone()) return "is incomplete";
    return switch (thrown) {
      case null -> begins == 1 && !fails ? null : "got a value though begun " + begins + " times, fails=" + fails;
      case StressRound.Planned planned -> begins == 1 && fails ? null
          : "got the failure of a handler though begun " + begins + " times";
      case MailboxFullException full -> begins == 0 ? null : "was told full and was handled";
      case ActorStoppedException stopped -> begins == 0 || round.killed() ? null : "was told stopped and was handled";
      case AskTimeoutException late -> kind == Kind.ASK_SHORT ? null : "waited to its limit";
      case CancellationException cancelled -> kind == Kind.FUTURE_CANCELLED || round.interrupts ? null
          : "was cancelled by nobody";
      default -> "got " + thrown + java.util.List.of(thrown.getStackTrace());
    };
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
