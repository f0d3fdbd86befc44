package io.fibry.durable;

/**
 * A step threw an exception. A failed step is not repeated by itself. When the message is delivered
 * again, the step throws this exception again if the handler had completed another step after it;
 * otherwise the step runs again.
 */
public final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception. Durable actors do this.
   *
   * @param text which step failed, and how
   * @param cause the exception of the step; null if the step failed at an earlier delivery of its
   * message
   */
  public StepFailedException(String text, Throwable cause) {
    super(text, cause);
  }
}
