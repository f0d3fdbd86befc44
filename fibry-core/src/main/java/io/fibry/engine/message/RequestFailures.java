package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Makes the exceptions that an asker gets in place of an answer. The text of such an exception is
 * made when it is read; only then is {@code toString} of the request called.
 */
public final class RequestFailures {
  /** One object for all requests, because many cancelled requests may stay in a mailbox. */
  static final CancellationException CANCELLED = new Cancelled();
  /** The marker of a request whose deadline came before its answer. */
  static final Exception EXPIRED = new Exception("the time for the answer is over", null, false, false) {};

  /**
   * The failure of a request made by {@code ask}, as the value of its future. It is not an
   * ExecutionException, because the constructor of that class would call {@code toString} of the
   * failure.
   */
  record FailedResult(Throwable cause) {}

  private static final FailedResult EXPIRED_RESULT = new FailedResult(EXPIRED);

  private RequestFailures() {}

  /**
   * Returns the exception that an asker got in place of an answer, even if a future has wrapped
   * that exception. Returns null if the failure is another exception.
   */
  public static RequestException requestExceptionIn(Throwable failure) {
    var cause = failure;
    while (cause instanceof CompletionException || cause instanceof ExecutionException) cause = cause.getCause();
    return cause instanceof RequestException exception ? exception : null;
  }

  /**
   * Returns the failure as a value. For EXPIRED this allocates no memory: an expired request is
   * marked as settled already, and must be completed even without memory.
   */
  static FailedResult failedResult(Throwable cause) {
    return cause == EXPIRED ? EXPIRED_RESULT : new FailedResult(cause);
  }

  public static ActorStoppedException stopped(DescribedActor actor, Object request, ExitReason reason,
      RequestOutcome outcome) {
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
        "the mailbox of actor '" + actor.name() + "' is full (" + Lines.count(capacity, "message")
            + "): it did not take "
            + actor.describeRequest(request)
            + "; ask again later, or give the actor a larger mailbox or Overflow.BLOCK",
        actor.name(), request, capacity);
  }

  /** Makes the exception for a mailbox with free space in which the message would wait too long. */
  public static MailboxFullException tooSlow(DescribedActor actor, Object request, int capacity,
      long expectedWaitNanos, Duration maxWait) {
    return new MailboxFullException(
        "the mailbox of actor '" + actor.name() + "' is full: " + actor.describeRequest(request)
            + " would have waited about "
            + Durations.textOfNanos(expectedWaitNanos) + ", longer than " + Durations.text(maxWait)
            + "; ask again later, or give the actor more workers or a longer withMaxWait(..)",
        actor.name(), request, capacity);
  }

  /**
   * @param isSettled whether the request was settled, so that the actor cannot begin it any more
   */
  static AskTimeoutException timeout(DescribedActor actor, Object request, Deadline deadline, boolean isBegun,
      boolean isSettled,
      Diagnosis diagnosis) {
    String explanation = diagnosis != null ? diagnosis.text()
        : isBegun ? "its handler had begun, and may still run" : "its handler had not begun, and will not begin";
    var stack = diagnosis == null ? null : diagnosis.stack();
    return new AskTimeoutException(
        "actor '" + actor.name() + "' did not answer " + actor.describeRequest(request) + " within " + deadline + ": "
            + explanation
            + deadline.advice() + (stack == null ? "" : stack.describePlace()),
        actor.name(), request, deadline.limit, stack,
        isSettled && !isBegun ? RequestOutcome.NOT_DONE : RequestOutcome.UNKNOWN);
  }

  /** Makes the exception for a request that was not sent, because no time was left for it. */
  public static AskTimeoutException tooLate(DescribedActor actor, Object request, Deadline deadline) {
    return new AskTimeoutException("actor '" + actor.name() + "' was not asked " + actor.describeRequest(request)
        + ", because no time was left for it: " + deadline + deadline.advice(), actor.name(), request, deadline.limit,
        null, RequestOutcome.NOT_DONE);
  }

  static AskCycleException cycle(DescribedActor actor, Object request, List<String> actorNames, String waitTexts) {
    return new AskCycleException(
        "this wait could never end: " + waitTexts + ". Send without waiting, or answer with replyWhen", actor.name(),
        request, actorNames);
  }

  /**
   * Throws the handler's own exception, with the stack of the asker added. An exception gets the
   * stacks of at most four askers, because a handler may throw the same object again and again.
   */
  static RuntimeException rethrown(Throwable failure) {
    if (failure.getSuppressed().length < 4) failure.addSuppressed(new AskerStack());
    return RequestFailures.<RuntimeException>sneakyThrow(failure);
  }

  @SuppressWarnings("unchecked") // throws a checked exception without a wrapper
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
