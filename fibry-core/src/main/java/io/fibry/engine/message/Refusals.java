package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.engine.jvm.Log;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * Makes what an asker is thrown in place of an answer. {@code {request}} becomes its text when the
 * exception's is read.
 */
public final class Refusals {
  /** One for all: many cancelled requests may stay in a mailbox. */
  static final CancellationException CANCELLED = new Cancelled();
  /** Likewise, where the deadline came first. */
  static final Exception EXPIRED = new Exception("the time for the answer is over", null, false, false) {};

  /** As the value of an asked request: an ExecutionException would ask it for its text. */
  record Failed(Throwable cause) {}

  private Refusals() {}

  public static ActorStoppedException stopped(String actor, Object request, ExitReason reason) {
    return new ActorStoppedException(
        "actor '" + actor + "' ended (" + shown(reason) + ") and did not answer {request}", actor, request,
        reason);
  }

  /** A failure's text is user code. */
  private static String shown(ExitReason reason) {
    return reason instanceof ExitReason.Failed ? Log.shown(reason) : reason.toString();
  }

  public static NoReplyException noReply(String actor, Object request) {
    return new NoReplyException("actor '" + actor
        + "' handled {request} and did not answer it; its handler must call context.reply, replyWhen or replyFailure",
        actor, request);
  }

  public static MailboxFullException full(String actor, Object request, int capacity) {
    return new MailboxFullException(
        "the mailbox of actor '" + actor + "' is full (" + capacity
            + " messages): it did not take {request}; ask again later, or give it a larger mailbox or Overflow.BLOCK",
        actor, request, capacity);
  }

  /** The mailbox has room, but is too slow. */
  public static MailboxFullException slow(String actor, Object request, int capacity, long foreseen, Duration target) {
    var wait = Duration.ofNanos(foreseen).truncatedTo(foreseen < 10_000_000 ? ChronoUnit.MICROS : ChronoUnit.MILLIS);
    return new MailboxFullException(
        "the mailbox of actor '" + actor + "' is full: {request} would have waited about " + wait
            + ", longer than " + target + "; ask again later, or give it more workers or a longer within(..)",
        actor, request, capacity);
  }

  static AskTimeoutException timeout(String actor, Object request, Deadline deadline, boolean begun,
      Diagnosis diagnosis) {
    String why = diagnosis != null ? diagnosis.text()
        : begun ? "it had begun with it, and may still be at it" : "its turn had not come, and will not";
    var stack = diagnosis == null ? null : diagnosis.stack();
    return new AskTimeoutException(
        "actor '" + actor + "' did not answer {request} within " + deadline + ": " + why
            + deadline.advice() + (stack == null ? "" : ". The handler is" + stack.top()),
        actor, request, deadline.limit, stack);
  }

  /** No time was left to send the request. */
  public static AskTimeoutException tooLate(String actor, Object request, Deadline deadline) {
    return new AskTimeoutException(
        "actor '" + actor + "' was not asked {request}, since no time was left for it: " + deadline
            + deadline.advice(),
        actor, request, deadline.limit, null);
  }

  static AskCycleException cycle(String actor, Object request, List<String> ring, String waits) {
    return new AskCycleException(
        "this wait could never end: " + waits + ". Send without waiting, or answer with replyWhen", actor, request,
        ring);
  }

  /**
   * The handler's own exception with the asker's stack; at most four, as a handler may throw the
   * same object for ever.
   */
  static RuntimeException rethrown(Throwable failure) {
    if (failure.getSuppressed().length < 4) failure.addSuppressed(new AskedHere());
    return Refusals.<RuntimeException>sneak(failure);
  }

  @SuppressWarnings("unchecked") // a checked exception leaves as itself
  private static <T extends Throwable> T sneak(Throwable failure) throws T {
    throw (T) failure;
  }

  private static final class AskedHere extends Exception {
    private static final long serialVersionUID = 1;

    AskedHere() {
      super("asked here", null, false, true);
    }
  }

  private static final class Cancelled extends CancellationException {
    private static final long serialVersionUID = 1;

    Cancelled() {
      super("the request was cancelled");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
