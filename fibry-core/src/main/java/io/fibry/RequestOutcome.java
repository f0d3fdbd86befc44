package io.fibry;

/**
 * Says whether a request that got no answer is handled anyway, and thus whether it may be sent
 * again.
 */
public enum RequestOutcome {
  /** The request was not handled, and never will be. It may be sent again. */
  NOT_DONE,
  /**
   * The request is stored by a durable actor, which has handled it or will handle it. It takes
   * effect once, and need not be sent again. If its handler throws after the asker stopped waiting,
   * the request is parked for an operator.
   */
  WILL_BE_DONE,
  /** The request may have been handled, may be handled later, or may never be handled. */
  UNKNOWN
}
