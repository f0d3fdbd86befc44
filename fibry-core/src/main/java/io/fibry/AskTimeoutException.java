package io.fibry;

import java.time.Duration;

/**
 * The answer did not come in time. The request is cancelled: if still queued, it is never handled.
 * The text says which message the actor is handling instead, for at least how long, for whom that
 * handler waits, and where the request stood in the queue. The cause shows where its handler was.
 * The outcome is NOT_DONE if it is certain that the handler did not begin.
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
   * @param handler has the stack of the actor's handler, or is null if it was handling nothing
   */
  public AskTimeoutException(String text, String actor, Object request, Duration waited, Throwable handler) {
    this(text, actor, request, waited, handler, Outcome.UNKNOWN);
  }

  /**
   * For libraries.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   * @param waited the limit
   * @param handler has the stack of the actor's handler, or is null if it was handling nothing
   * @param outcome whether the request is handled
   */
  public AskTimeoutException(String text, String actor, Object request, Duration waited, Throwable handler,
      Outcome outcome) {
    super(text, actor, request, handler, true, outcome);
    this.waited = waited;
  }

  /**
   * {@return the limit of the {@code ask}, or the time that was left for the request that the asker
   * itself was handling, if that was shorter}
   */
  public Duration waited() {
    return waited;
  }
}
