package io.fibry.durable;

import io.fibry.MailboxFullException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.text.Lines;

/**
 * A stored request got no answer: the mailbox was full, the actor ended or could not be read, or
 * the time limit was over. The request is still handled once, now or later, so do not send it
 * again. The cause says why there is no answer.
 */
public final class RequestStoredException extends RequestException {
  private static final long serialVersionUID = 1;

  private RequestStoredException(String text, String actor, Object request, Throwable cause) {
    super(text, actor, request, cause, Outcome.WILL_BE_DONE);
  }

  static RequestStoredException of(Store.ActorId actor, BlockBuilder<?> blockBuilder, Object request,
      Throwable cause) {
    return new RequestStoredException(actor + " has stored " + blockBuilder.describeRequest(request)
        + ", and handles it once without another send, but does not answer: " + reason(cause), actor.toString(),
        request, cause);
  }

  /** Returns the text of the cause. For a full mailbox, leaves out the advice to ask again. */
  private static String reason(Throwable cause) {
    return switch (cause) {
      case MailboxFullException full -> "its mailbox is full (" + full.capacity() + " messages)";
      case RequestException unanswered -> Lines.message(unanswered);
      default -> Lines.thrown(cause);
    };
  }
}
