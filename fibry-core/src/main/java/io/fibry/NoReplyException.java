package io.fibry;

/** The handler returned and neither answered nor promised to. */
public final class NoReplyException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Users make one only to fake an actor, in a test say.
   *
   * @param text what happened
   * @param actor the name of the actor that was asked
   * @param request what it was asked
   */
  public NoReplyException(String text, String actor, Object request) {
    super(text, actor, request, null, false);
  }
}
