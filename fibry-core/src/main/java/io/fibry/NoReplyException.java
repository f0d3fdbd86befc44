package io.fibry;

/**
 * Thrown to the asker if the handler returned without answering and without promising an answer.
 */
public final class NoReplyException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Creates an exception with the outcome UNKNOWN; for tests that replace an actor by a fake.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   */
  public NoReplyException(String text, String actor, Object request) {
    super(text, actor, request, null, false, RequestOutcome.UNKNOWN);
  }
}
