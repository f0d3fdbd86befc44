package io.fibry;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis;
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

  private AskTimeoutException(ActorCell cell, Object request, Duration waited, String text, Throwable here) {
    super(cell.name(), request, text, here, true);
    this.waited = waited;
  }

  public static AskTimeoutException of(ActorCell cell, Object request, Deadline limit, boolean begun) {
    var why = limit.why;
    if (why == null) why =
        new Diagnosis(begun ? "it had begun with it, and may still be at it" : "its turn had not come, and will not",
            null);
    String where = why.here() == null ? "" : ". The handler is" + why.here().top();
    return new AskTimeoutException(cell, request, limit.duration(), "actor '" + cell.name() + "' did not answer "
        + shown(request) + " within " + limit + ": " + why.text() + limit.advice() + where, why.here());
  }

  /** Of one that was not even sent. */
  public static AskTimeoutException before(ActorCell cell, Object request, Deadline limit) {
    return new AskTimeoutException(cell, request, limit.duration(), "actor '" + cell.name() + "' was not asked "
        + shown(request) + ", since no time was left for it: " + limit + limit.advice(), null);
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
