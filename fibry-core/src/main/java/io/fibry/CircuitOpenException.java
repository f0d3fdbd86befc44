package io.fibry;

/** Thrown if a circuit breaker refused the request, because earlier requests failed. */
public final class CircuitOpenException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Creates an exception with the outcome NOT_DONE; for circuit breakers, and for tests that fake
   * a circuit breaker.
   *
   * @param text describes the failure
   * @param breaker the name of the circuit breaker
   * @param request the message
   */
  public CircuitOpenException(String text, String breaker, Object request) {
    super(text, breaker, request, null, false, RequestOutcome.NOT_DONE);
  }
}
