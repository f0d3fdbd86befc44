package io.fibry.block;

import io.fibry.engine.jvm.FailureLog;

/** Which failures are logged with their stack: of equal ones, one a second. Thread-safe. */
public final class FailureStackThrottle {
  private final FailureLog log = new FailureLog();

  public boolean isDue(Throwable failure) {
    return log.admit(failure, System.nanoTime()) != FailureLog.OMITTED;
  }
}
