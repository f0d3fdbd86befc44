package io.fibry;

import java.time.Duration;

/**
 * Thrown to the asker if the answer did not come in time. The request is cancelled: a request that
 * is still queued is never handled. The outcome is NOT_DONE if it is certain that the handler did
 * not begin with the request.
 *
 * <p>The text names the message that the actor is handling instead, the minimum time that this has
 * taken so far, and the actor for which the handler waits. It also gives the position of the
 * request in the queue. The cause has the stack of the running handler.
 */
public final class AskTimeoutException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How long the asker could wait. */
  private final Duration limit;

  /**
   * Creates an exception with the outcome UNKNOWN; for tests that replace an actor by a fake.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param limit how long the asker could wait
   * @param handlerStack has the stack of the actor's handler; null if no handler was running
   */
  public AskTimeoutException(String text, String actor, Object request, Duration limit, Throwable handlerStack) {
    this(text, actor, request, limit, handlerStack, RequestOutcome.UNKNOWN);
  }

  /**
   * Creates an exception; for libraries that build on actors.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param limit how long the asker could wait
   * @param handlerStack has the stack of the actor's handler; null if no handler was running
   * @param outcome whether the request is handled
   */
  public AskTimeoutException(String text, String actor, Object request, Duration limit, Throwable handlerStack,
      RequestOutcome outcome) {
    super(text, actor, request, handlerStack, true, outcome);
    this.limit = limit;
  }

  /**
   * {@return how long the asker could wait: the limit of the {@code ask}, or the shorter time that
   * remained for the request which the asker itself was handling}
   */
  public Duration limit() {
    return limit;
  }
}
