package io.fibry;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One message of an oracle's round: how often its handlers began and ended, and the outcome that
 * its sender was told.
 */
final class OracleMessage implements Request<OracleMessage, Long>, Comparable<OracleMessage> {
  enum Kind { MESSAGE, LATER, FUTURE, CANCELLED_FUTURE, ASK, SHORT_ASK }

  /** What a handler throws on demand. */
  static final class Planned extends Exception {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  final long number;
  final Kind kind;
  final int target; // index
  final int failures; // so often it fails, then it returns
  final int retries; // of its actor's policy
  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger returned = new AtomicInteger();
  final AtomicInteger threw = new AtomicInteger();
  final AtomicInteger letters = new AtomicInteger();
  volatile DeadLetter.Reason letter;
  volatile boolean refused; // its sender was told so
  volatile Throwable told; // in place of a value
  volatile CompletableFuture<Long> future;

  OracleMessage(long number, Kind kind, int target, int failures, int retries) {
    this.number = number;
    this.kind = kind;
    this.target = target;
    this.failures = failures;
    this.retries = retries;
  }

  boolean isRequest() {
    return kind.ordinal() >= Kind.FUTURE.ordinal();
  }

  /** Waits for its future, and keeps what was told. */
  void settle() throws InterruptedException {
    if (future == null) return;
    Waits.explained(() -> Waits.done(future), this::toString);
    told = Waits.failure(future, number);
  }

  /** A timer may end with its actor before it sends. */
  boolean isSettled() {
    return begun.get() == returned.get() + threw.get()
        && (isRequest() || refused || kind == Kind.LATER || returned.get() + letters.get() > 0);
  }

  /** Null, if what was told is what was done. */
  String fault(boolean entity, boolean hard, boolean interrupts) {
    int starts = begun.get();
    if (starts != returned.get() + threw.get()) return "has a handler that does not end";
    if (returned.get() > 1) return "returned twice";
    if (starts > 1 + retries) return "was begun " + starts + " times, with " + retries + " retries";
    if (returned.get() == 1 && threw.get() != failures) return "returned after " + threw + " failures";
    if (refused && starts > 0) return "was refused and begun";
    if (entity && told != null && (told.getClass() == IllegalStateException.class || isWithoutThread()))
      return starts == 0 ? null : "was told that it was not born, and begun";
    return isRequest() ? requestFault(starts, hard, interrupts) : messageFault(starts, entity);
  }

  private boolean isWithoutThread() {
    return told instanceof RejectedExecutionException;
  }

  /** If no entity can be made, the dead letter does not belong to the scope. */
  private String messageFault(int starts, boolean entity) {
    if (refused && entity) return null;
    int dead = letters.get();
    if (returned.get() + dead > 1) return "returned " + returned + " times, with " + dead + " dead letters";
    if (refused && dead == 0) return "was refused, and is no dead letter";
    if (dead == 1 && (letter == DeadLetter.Reason.FAILED) != (starts > 0))
      return "is a dead letter of reason " + letter + ", begun " + starts + " times";
    return isSettled() ? null : "disappeared";
  }

  private String requestFault(int starts, boolean hard, boolean interrupts) {
    if (letters.get() > 0) return "is a request, and a dead letter";
    boolean failed = threw.get() > 0 && returned.get() == 0;
    return switch (told) {
      case null -> returned.get() == 1 ? null : "got a value and did not return";
      case Planned planned -> failed ? null : "got a failure, with " + threw + " failures, " + returned + " returns";
      case MailboxFullException full -> starts == 0 ? null : "was told full, and begun";
      // an actor that is killed tells the askers whose handlers it interrupts
      case ActorStoppedException stopped -> starts == 0 || hard ? null : "was told stopped, and begun";
      case AskTimeoutException late when late.getMessage().contains("will not") -> starts == 0 ? null
          : "was told that it will not begin, and was begun: " + late.getMessage();
      case AskTimeoutException late -> kind == Kind.SHORT_ASK ? null : "waited to its limit: " + late.getMessage();
      case CancellationException cancelled -> kind == Kind.CANCELLED_FUTURE || interrupts ? null
          : "was cancelled by nobody";
      default -> "got " + told;
    };
  }

  @Override
  public int compareTo(OracleMessage other) {
    return Long.compare(number & 3, other.number & 3);
  }

  @Override
  public String toString() {
    return kind + " " + number + " (" + begun + " begun, " + returned + " returned, " + threw + " threw, " + letters
        + " letters, told " + told + ")";
  }
}
