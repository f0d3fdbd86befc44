package io.fibry;

import java.time.Duration;

/**
 * The answer did not come in time. The request is cancelled: if still queued, it is never handled.
 * The text says what the actor does instead, for at least how long, what it waits for, and where
 * the request stood in its queue. The cause shows where its handler was.
 */
public final class AskTimeoutException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How long the asker could wait. */
  private final Duration waited;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   * @param waited the limit
   * @param handler where the actor's was; null: nowhere
   */
  public AskTimeoutException(String text, String actor, Object request, Duration waited, Throwable handler) {
    super(text, actor, request, handler, true);
    this.waited = waited;
  }

  /**
   * {@return the limit of the {@code ask}; or, if less, what was left of the limit of the request
   * that the asker was handling}
   */
  public Duration waited() {
    return waited;
  }
}
