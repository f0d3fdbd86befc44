package io.fibry;

/** The actor had ended, or ended before it answered. */
public final class ActorStoppedException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient ExitReason reason;

  public ActorStoppedException(String actor, Object request, ExitReason reason) {
    super(actor, request, "actor '" + actor + "' ended (" + reason + ") and did not answer " + shown(request),
        reason instanceof ExitReason.Failed failed ? failed.cause() : null, false);
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
