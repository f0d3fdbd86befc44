package io.fibry.block;

import io.fibry.engine.jvm.FailureLog;

/**
 * Allows the stack of equal failures to be logged at most once a second. Failures are equal if they
 * have the same class and come from the same line of code. Thread-safe.
 */
public final class FailureStackThrottle {
  private final FailureLog log = new FailureLog();

  /** Returns whether to log the stack of this failure now. */
  public boolean isDue(Throwable failure) {
    return log.admit(failure, System.nanoTime()) != FailureLog.OMITTED;
  }
}
