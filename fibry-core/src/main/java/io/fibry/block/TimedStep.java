package io.fibry.block;

import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.message.Timestamped;

/**
 * A step of a {@link io.fibry.spi.MultiStepMessage} that records its start time. A step starts when
 * its object is created.
 */
public abstract class TimedStep implements Timestamped {
  private final long startNanos = CoarseClock.systemTime();

  @Override
  public final long startNanos() {
    return startNanos;
  }
}
