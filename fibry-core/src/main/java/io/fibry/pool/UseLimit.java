package io.fibry.pool;

import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * How long a use of a key may wait for the birth or the end of the key's actor.
 *
 * @param clock measures the limit; null for the two constants
 * @param limit null: no limit
 * @param start ns by the clock
 */
record UseLimit(Scheduler clock, Duration limit, long start) {
  static final UseLimit NONE = new UseLimit(null, null, 0);
  static final UseLimit NO_WAIT = new UseLimit(null, Duration.ZERO, 0);

  static UseLimit of(Scheduler clock, Duration limit) {
    return new UseLimit(clock, limit, clock.nanoTime());
  }

  Duration remaining() {
    var remaining = limit.minusNanos(clock.nanoTime() - start);
    return remaining.isPositive() ? remaining : Duration.ZERO;
  }
}
