package io.fibry.engine.message;

import io.fibry.engine.jvm.CoarseClock;

/** A step that knows when it began. */
public interface Timestamped {
  /** Returns the time when the step began, in nanoseconds by {@link CoarseClock}. */
  long startNanos();
}
