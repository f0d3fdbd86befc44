package io.fibry.cluster;

import io.fibry.RequestException;
import io.fibry.RequestOutcome;

/**
 * A request did not arrive at an actor of another node, or its answer cannot arrive any more. An
 * answer cannot arrive if the other node was killed or has lapsed, or if a connection broke. The
 * request then fails within the time of a lease. Its {@link #outcome} tells whether the other node
 * may have handled it, so check the outcome before you send it again. If the other node sent a
 * failure, the cause is a {@link RemoteFailureException}.
 */
public final class UnavailableException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception. Called by nodes.
   *
   * @param text the text of the exception
   * @param actor the name of the actor that did not answer
   * @param request the request without an answer
   * @param cause the cause, or null
   * @param outcome whether the request was or will be handled
   */
  public UnavailableException(String text, String actor, Object request, Throwable cause, RequestOutcome outcome) {
    super(text, actor, request, cause, outcome);
  }
}
