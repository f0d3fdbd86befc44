package io.fibry.block;

import io.fibry.engine.jvm.FailureLog;
import java.util.Optional;

/**
 * Allows the stack of equal failures to be logged at most once a second. Failures are equal if they
 * and their causes have the same classes and the same frames, besides those below the handler.
 * Thread-safe.
 */
public final class FailureStackThrottle {
  private final FailureLog log = new FailureLog();

  /** Returns whether to log the stack of this failure now. */
  public boolean isDue(Throwable failure) {
    return isDue(failure, "");
  }

  /**
   * Returns whether to log the stack of this failure now. Failures of other origins, such as
   * routes, are not equal.
   */
  public boolean isDue(Throwable failure, String origin) {
    return log.admit(failure, origin, System.nanoTime()) != FailureLog.OMITTED;
  }

  /**
   * Tells whether an actor has logged the stack of this exception within the last second.
   *
   * @param entry the name of the caller's entry, to which a later entry of an actor refers
   * @return the actor; empty if the caller should log the stack
   */
  public static Optional<String> actorWithStack(Throwable failure, String entry) {
    return Optional.ofNullable(FailureLog.entryWithStack(failure, entry, false, System.nanoTime()));
  }
}
