package io.fibry.engine.message;

import io.fibry.engine.jvm.CoarseClock;

/** A step of a {@code MultiStepMessage} that knows when it began. */
public interface Timestamped {
  /** Returns the time when the step began, in nanoseconds by {@link CoarseClock}. */
  long startNanos();
}
