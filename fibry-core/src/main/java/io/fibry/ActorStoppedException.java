package io.fibry;

import io.fibry.engine.jvm.Texts;

/** The actor had ended, or ended before it answered. */
public final class ActorStoppedException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient ExitReason reason;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened
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
    String filled = super.filled(text);
    return filled.contains(Texts.REASON) ? filled.replace(Texts.REASON, why()) : filled;
  }

  private String why() {
    return reason instanceof ExitReason.Failed failed ? "Failed: " + shown(failed.cause())
        : String.valueOf(reason);
  }

  /** {@return why it ended} */
  public ExitReason reason() {
    return reason;
  }
}
