package io.fibry.net;

import io.fibry.time.Scheduler;
import java.util.concurrent.TimeUnit;

/**
 * What may happen a million times a minute, and is logged once a minute with its number.
 * Thread-safe.
 */
final class LogThrottle {
  private static final long BETWEEN = TimeUnit.MINUTES.toNanos(1);

  private final Scheduler clock;
  private long number; // since it was logged; under the monitor
  private boolean ever; // under the monitor
  private long logged; // when; under the monitor

  LogThrottle(Scheduler clock) {
    this.clock = clock;
  }

  /** Counts one. Answers how many there were since the last line, if a line is due; else 0. */
  synchronized long count() {
    number++;
    long now = clock.nanoTime();
    if (ever && now - logged < BETWEEN) return 0;
    ever = true;
    logged = now;
    long told = number;
    number = 0;
    return told;
  }
}
