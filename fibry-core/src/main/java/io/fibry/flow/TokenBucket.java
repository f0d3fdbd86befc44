package io.fibry.flow;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * A token bucket, kept as the time at which it will be full. Each token adds its share of the
 * period; a caller waits until that time is at most a period away. Callers are served in order.
 * Thread-safe.
 */
final class TokenBucket {
  private final Scheduler clock;
  private final int tokens;
  private final long period;
  private long full; // guarded by this, as the next one
  private long fraction; // in `tokens`-ths of a nanosecond, against drift

  TokenBucket(Scheduler clock, int tokens, Duration period) {
    this.clock = clock;
    this.tokens = tokens;
    this.period = Durations.nanos(period);
    this.full = clock.nanoTime();
  }

  void take() throws InterruptedException {
    clock.sleepUntil(reserve());
  }

  /** Answers when the token is there. */
  private synchronized long reserve() {
    long now = clock.nanoTime();
    if (full - now <= 0) {
      full = now;
      fraction = 0;
    }
    fraction += period % tokens;
    long carry = fraction >= tokens ? 1 : 0;
    fraction -= carry * tokens;
    full = now + Math.min(2 * Durations.MOST, full - now + period / tokens + carry);
    return full - period;
  }
}
