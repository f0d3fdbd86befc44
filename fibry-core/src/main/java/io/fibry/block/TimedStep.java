package io.fibry.block;

import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.message.Timestamped;

/** A step of {@link io.fibry.spi.MultiStepMessage} that knows when it began: when it was made. */
public abstract class TimedStep implements Timestamped {
  private final long startNanos = CoarseClock.systemTime();

  @Override
  public final long startNanos() {
    return startNanos;
  }
}
