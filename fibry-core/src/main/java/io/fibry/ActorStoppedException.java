package io.fibry;

/** The actor had ended, or ended before it answered. */
public final class ActorStoppedException extends RequestException {
  private static final long serialVersionUID = 1;
  private static final String REASON = "{reason}";

  private final transient ExitReason reason;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened; "{request}" stands for the text of the message, "{reason}" for that
   *     of the reason
   * @param actor its name
   * @param request the message
   * @param reason why it ended
   */
  public ActorStoppedException(String text, String actor, Object request, ExitReason reason) {
    super(text, actor, request, reason instanceof ExitReason.Failed failed ? failed.cause() : null, false);
    this.reason = reason;
  }

  @Override
  String filled(String text) {
    int at = text.indexOf(REASON);
    if (at < 0) return super.filled(text);
    String why =
        reason instanceof ExitReason.Failed failed ? "Failed: " + shown(failed.cause()) : String.valueOf(reason);
    return super.filled(text.substring(0, at)) + why + super.filled(text.substring(at + REASON.length()));
  }

  /** {@return why it ended} */
  public ExitReason reason() {
    return reason;
  }
}
