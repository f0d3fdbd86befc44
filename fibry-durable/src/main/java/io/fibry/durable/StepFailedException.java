package io.fibry.durable;

/**
 * A step threw. It throws this one when its message comes again, too, if the handler went on to
 * another step; otherwise it runs again.
 */
public final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  StepFailedException(String text, Throwable cause) {
    super(text, cause);
  }
}
