package io.fibry;

/** The actor had ended, or ended before it answered. */
public final class ActorStoppedException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient ExitReason reason;

  /**
   * Users make one only to fake an actor, in a test say.
   *
   * @param text what happened
   * @param actor the name of the actor that was asked
   * @param request what it was asked
   * @param reason why it ended
   */
  public ActorStoppedException(String text, String actor, Object request, ExitReason reason) {
    super(text, actor, request, reason instanceof ExitReason.Failed failed ? failed.cause() : null, false);
    this.reason = reason;
  }

  /**
   * Why it ended.
   *
   * @return the reason
   */
  public ExitReason reason() {
    return reason;
  }
}
