package io.fibry.block;

import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.MessageTexts.NamedStep;
import io.fibry.engine.message.Timestamped;

/**
 * A step of a {@link io.fibry.spi.MultiStepMessage} that records its start time. A step starts when
 * its object is created.
 */
public abstract class TimedStep implements Timestamped, NamedStep {
  private final long startNanos = CoarseClock.systemTime();

  @Override
  public final long startNanos() {
    return startNanos;
  }

  @Override
  public String typeName() {
    return getClass().getSimpleName();
  }
}
