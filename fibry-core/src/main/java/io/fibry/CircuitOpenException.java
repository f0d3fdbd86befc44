package io.fibry;

/** A circuit breaker refused the request, because others before it failed. It is not handled. */
public final class CircuitOpenException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * For circuit breakers, and for tests that fake one.
   *
   * @param text what happened
   * @param breaker its name
   * @param request the message
   */
  public CircuitOpenException(String text, String breaker, Object request) {
    super(text, breaker, request, null, false, Outcome.NOT_DONE);
  }
}
