package io.fibry;

import java.time.Duration;

/** The answer did not come in time. The request is cancelled: if it still waited, it is never handled. */
public final class AskTimeoutException extends RequestException {
  private static final long serialVersionUID = 1;

  /** The limit of the ask. */
  private final Duration waited;

  AskTimeoutException(String actor, Object request, Duration waited, boolean begun) {
    super(actor, request, "actor '" + actor + "' did not answer " + shown(request) + " within " + waited + ": "
        + (begun ? "it had begun with it, and may still be at it" : "its turn had not come, and will not") + "; give ask a longer limit if it may take so long", null, true);
    this.waited = waited;
  }

  /**
   * How long the asker waited.
   *
   * @return the limit of the {@code ask}
   */
  public Duration waited() {
    return waited;
  }
}
