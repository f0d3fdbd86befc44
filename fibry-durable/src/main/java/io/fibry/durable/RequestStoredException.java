package io.fibry.durable;

import io.fibry.MailboxFullException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.store.Store;
import io.fibry.text.Lines;

/**
 * A request that is stored got no answer: its mailbox was full, its actor ended or could not be
 * read, or its time was over. It is handled once all the same, now or later: do not send it again.
 * The cause says why there is no answer.
 */
public final class RequestStoredException extends RequestException {
  private static final long serialVersionUID = 1;

  private RequestStoredException(String text, String actor, Object request, Throwable cause) {
    super(text, actor, request, cause, Outcome.WILL_BE_DONE);
  }

  static RequestStoredException of(Store.ActorId actor, PendingDelivery delivery, Object request, Throwable cause) {
    return new RequestStoredException(actor + " keeps " + delivery.blockBuilder.describeRequest(request)
        + ", and handles it once without being sent it again, but does not answer: " + reason(cause), actor.toString(),
        request, cause);
  }

  /** A full mailbox suggests to ask again. */
  private static String reason(Throwable cause) {
    return switch (cause) {
      case MailboxFullException full -> "its mailbox is full (" + full.capacity() + " messages)";
      case RequestException none -> Lines.message(none);
      default -> Lines.thrown(cause);
    };
  }
}
