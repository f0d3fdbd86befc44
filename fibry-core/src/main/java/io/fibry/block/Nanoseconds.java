package io.fibry.block;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations as numbers. */
public final class Nanoseconds {
  /** Two of them, and a time, can be added and compared. */
  public static final long MOST = Long.MAX_VALUE / 4;

  private Nanoseconds() {}

  /** At most {@link #MOST}. */
  public static long of(Duration duration) {
    return Math.min(MOST, TimeUnit.NANOSECONDS.convert(duration));
  }
}
