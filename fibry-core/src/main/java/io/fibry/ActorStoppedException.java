package io.fibry;

import io.fibry.engine.jvm.MessageTexts;

/**
 * The actor had ended, or ended before it answered. The outcome is NOT_DONE if it had not begun
 * with the request.
 */
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
    this(text, actor, request, reason, Outcome.UNKNOWN);
  }

  /**
   * For libraries.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   * @param reason why it ended
   * @param outcome whether the request is handled
   */
  public ActorStoppedException(String text, String actor, Object request, ExitReason reason, Outcome outcome) {
    super(text, actor, request, reason instanceof ExitReason.Failed failed ? failed.cause() : null, false, outcome);
    this.reason = reason;
  }

  @Override
  String filled(String text) {
    String filled = super.filled(text);
    return filled.contains(MessageTexts.REASON) ? filled.replace(MessageTexts.REASON, why()) : filled;
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
