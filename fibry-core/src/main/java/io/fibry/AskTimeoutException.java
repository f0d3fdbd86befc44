package io.fibry;

import java.time.Duration;

/**
 * The answer did not come in time. The request is cancelled: if it still waited, it is never
 * handled. The text says what the actor is doing instead, for at least how long, for whom it waits
 * itself, and where the request stood in its queue; the cause is where its handler was at that
 * moment.
 */
public final class AskTimeoutException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How long the asker was allowed to wait. */
  private final Duration waited;

  /**
   * Users make one only to fake an actor, in a test say.
   *
   * @param text what happened
   * @param actor the name of the actor that was asked
   * @param request what it was asked
   * @param waited how long the asker was allowed to wait
   * @param handler where the actor's handler was; null: nowhere
   */
  public AskTimeoutException(String text, String actor, Object request, Duration waited, Throwable handler) {
    super(text, actor, request, handler, true);
    this.waited = waited;
  }

  /**
   * How long the asker was allowed to wait.
   *
   * @return the limit of the {@code ask}; or what was left of the limit of the request that the
   * asker was handling, where that is less
   */
  public Duration waited() {
    return waited;
  }
}
