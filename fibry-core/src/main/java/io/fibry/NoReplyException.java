package io.fibry;

/** The handler returned and neither answered nor promised to. */
public final class NoReplyException extends RequestException {
  private static final long serialVersionUID = 1;

  public NoReplyException(String actor, Object request) {
    super(actor, request, "actor '" + actor + "' handled " + shown(request)
        + " and did not answer it; its handler must call context.reply, replyWhen or replyFailure", null, false);
  }
}
