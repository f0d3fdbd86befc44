package io.fibry.durable;

import io.fibry.MailboxFullException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.text.Lines;

/**
 * A stored request got no answer: the mailbox was full, the actor ended or could not be read, or
 * the time limit was over. The request is still handled once, now or later, so do not send it
 * again. The cause says why there is no answer.
 */
public final class RequestStoredException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception. Durable actors do this.
   *
   * @param actor the name of the actor, which has stored the request
   * @param description the request as texts show it
   * @param request the request without an answer
   * @param cause why there is no answer
   */
  public RequestStoredException(String actor, String description, Object request, Throwable cause) {
    super(actor + " has stored " + description + ", and handles it once without another send, but does not answer: "
        + reason(cause), actor, request, cause, RequestOutcome.WILL_BE_DONE);
  }

  /** Returns the text of the cause. For a full mailbox, leaves out the advice to ask again. */
  private static String reason(Throwable cause) {
    return switch (cause) {
      case MailboxFullException full -> "its mailbox is full (" + Lines.count(full.capacity(), "message") + ")";
      case RequestException unanswered -> Lines.message(unanswered);
      default -> Lines.thrown(cause);
    };
  }
}
