package io.fibry.engine.message;

import io.fibry.engine.jvm.CoarseClock;

/** A step that knows when it began. */
public interface Timestamped {
  /** By {@link CoarseClock}. */
  long startNanos();
}
