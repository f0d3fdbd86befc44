package io.fibry;

/**
 * Why a request got no answer, as libraries that build on actors tell it: their own exceptions
 * extend this one.
 */
public abstract non-sealed class UnansweredException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * For libraries.
   *
   * @param text what happened
   * @param actor the name of the actor
   * @param request the message
   * @param cause the cause, or null if no other exception led to this one
   * @param outcome whether the request is handled
   */
  protected UnansweredException(String text, String actor, Object request, Throwable cause, Outcome outcome) {
    super(text, actor, request, cause, false, outcome);
  }
}
