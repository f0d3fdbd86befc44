package io.fibry;

import io.fibry.engine.jvm.MessageTexts;

/**
 * Thrown to the asker if the actor no longer accepted the request, or ended before it answered the
 * request. The outcome is NOT_DONE only if it is certain that no handler will begin with the
 * request.
 */
public final class ActorStoppedException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient ExitReason reason;

  /**
   * Creates an exception with the outcome UNKNOWN; for tests that replace an actor by a fake.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param reason why the actor ended
   */
  public ActorStoppedException(String text, String actor, Object request, ExitReason reason) {
    this(text, actor, request, reason, RequestOutcome.UNKNOWN);
  }

  /**
   * Creates an exception; for libraries that build on actors.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param reason why the actor ended
   * @param outcome whether the request is handled
   */
  public ActorStoppedException(String text, String actor, Object request, ExitReason reason, RequestOutcome outcome) {
    super(text, actor, request, reason instanceof ExitReason.Failed failed ? failed.cause() : null, false, outcome);
    this.reason = reason;
  }

  @Override
  String fillIn(String text) {
    String message = super.fillIn(text);
    return message.contains(MessageTexts.REASON) ? message.replace(MessageTexts.REASON, reasonText()) : message;
  }

  private String reasonText() {
    return reason instanceof ExitReason.Failed failed ? "Failed: " + describe(failed.cause())
        : String.valueOf(reason);
  }

  /** {@return why the actor ended} */
  public ExitReason reason() {
    return reason;
  }
}
