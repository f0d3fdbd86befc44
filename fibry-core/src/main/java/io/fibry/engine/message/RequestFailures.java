package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Makes what an asker is thrown in place of an answer. The texts of the request and of the reason
 * are made when somebody reads the exception's.
 */
public final class RequestFailures {
  /** One for all: many cancelled requests may stay in a mailbox. */
  static final CancellationException CANCELLED = new Cancelled();
  /** The marker of a request whose deadline came before its answer. */
  static final Exception EXPIRED = new Exception("the time for the answer is over", null, false, false) {};

  /**
   * The failure of an asked request, as a value: an ExecutionException would call the failure for
   * its text.
   */
  record FailedResult(Throwable cause) {}

  private static final FailedResult EXPIRED_RESULT = new FailedResult(EXPIRED);

  private RequestFailures() {}

  /**
   * Returns the exception that an actor threw in place of an answer, also through a future, or null
   * if the failure is of another kind.
   */
  public static RequestException requestExceptionIn(Throwable failure) {
    var cause = failure;
    while (cause instanceof CompletionException || cause instanceof ExecutionException) cause = cause.getCause();
    return cause instanceof RequestException refusal ? refusal : null;
  }

  /** A limit that is over needs no memory: once it has settled a request, it must tell it. */
  static FailedResult failedResult(Throwable cause) {
    return cause == EXPIRED ? EXPIRED_RESULT : new FailedResult(cause);
  }

  public static ActorStoppedException stopped(DescribedActor actor, Object request, ExitReason reason,
      Outcome outcome) {
    return new ActorStoppedException(
        "actor '" + actor.name() + "' ended (" + MessageTexts.REASON + ") and did not answer "
            + actor.describeRequest(request),
        actor.name(),
        request, reason, outcome);
  }

  public static NoReplyException noReply(DescribedActor actor, Object request) {
    return new NoReplyException("actor '" + actor.name() + "' handled " + actor.describeRequest(request)
        + " and did not answer it; its handler must call context.reply, replyWhen or replyFailure", actor.name(),
        request);
  }

  public static MailboxFullException full(DescribedActor actor, Object request, int capacity) {
    return new MailboxFullException(
        "the mailbox of actor '" + actor.name() + "' is full (" + capacity + " messages): it did not take "
            + actor.describeRequest(request) + "; ask again later, or give it a larger mailbox or Overflow.BLOCK",
        actor.name(), request, capacity);
  }

  /** The mailbox has room, but is too slow. */
  public static MailboxFullException tooSlow(DescribedActor actor, Object request, int capacity, long foreseen,
      Duration target) {
    return new MailboxFullException(
        "the mailbox of actor '" + actor.name() + "' is full: " + actor.describeRequest(request)
            + " would have waited about "
            + Durations.textOfNanos(foreseen) + ", longer than " + Durations.text(target)
            + "; ask again later, or give it more workers or a longer withMaxWait(..)",
        actor.name(), request, capacity);
  }

  /** @param settled whether it can be begun no more */
  static AskTimeoutException timeout(DescribedActor actor, Object request, Deadline deadline, boolean begun,
      boolean settled,
      Diagnosis diagnosis) {
    String why = diagnosis != null ? diagnosis.text()
        : begun ? "it had begun with it, and may still be at it" : "its turn had not come, and will not";
    var stack = diagnosis == null ? null : diagnosis.stack();
    return new AskTimeoutException(
        "actor '" + actor.name() + "' did not answer " + actor.describeRequest(request) + " within " + deadline + ": "
            + why
            + deadline.advice() + (stack == null ? "" : stack.place()),
        actor.name(), request, deadline.limit, stack, settled && !begun ? Outcome.NOT_DONE : Outcome.UNKNOWN);
  }

  /** No time was left to send the request. */
  public static AskTimeoutException tooLate(DescribedActor actor, Object request, Deadline deadline) {
    return new AskTimeoutException("actor '" + actor.name() + "' was not asked " + actor.describeRequest(request)
        + ", since no time was left for it: " + deadline + deadline.advice(), actor.name(), request, deadline.limit,
        null, Outcome.NOT_DONE);
  }

  static AskCycleException cycle(DescribedActor actor, Object request, List<String> ring, String waits) {
    return new AskCycleException(
        "this wait could never end: " + waits + ". Send without waiting, or answer with replyWhen", actor.name(),
        request, ring);
  }

  /**
   * The handler's own exception with the asker's stack; at most four, as a handler may throw the
   * same object for ever.
   */
  static RuntimeException rethrown(Throwable failure) {
    if (failure.getSuppressed().length < 4) failure.addSuppressed(new AskerStack());
    return RequestFailures.<RuntimeException>sneakyThrow(failure);
  }

  @SuppressWarnings("unchecked") // a checked exception leaves as itself
  private static <T extends Throwable> T sneakyThrow(Throwable failure) throws T {
    throw (T) failure;
  }

  private static final class AskerStack extends Exception {
    private static final long serialVersionUID = 1;

    AskerStack() {
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
