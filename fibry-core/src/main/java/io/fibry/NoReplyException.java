package io.fibry;

/** The handler returned and neither answered nor promised to. */
public final class NoReplyException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   */
  public NoReplyException(String text, String actor, Object request) {
    super(text, actor, request, null, false, Outcome.UNKNOWN);
  }
}
