package io.fibry.net;

import io.fibry.time.Scheduler;
import java.util.concurrent.TimeUnit;

/** Allows one log line a minute. Thread-safe. */
final class LogThrottle {
  private static final long PERIOD = TimeUnit.MINUTES.toNanos(1);

  private final Scheduler clock;
  // under the monitor
  private long number; // since the last line
  private long last; // when

  LogThrottle(Scheduler clock) {
    this.clock = clock;
    this.last = clock.nanoTime() - PERIOD;
  }

  /** Counts one. If a line is due, the number since the last line; else 0. */
  synchronized long count() {
    number++;
    long now = clock.nanoTime();
    if (now - last < PERIOD) return 0;
    last = now;
    long counted = number;
    number = 0;
    return counted;
  }
}
