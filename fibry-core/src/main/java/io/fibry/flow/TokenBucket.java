package io.fibry.flow;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.PriorityQueue;

/**
 * A token bucket, kept as the time at which it will be full. Each token adds its share of the
 * period; a caller waits until that time is at most a period away. Callers are served in order; a
 * killed caller leaves its place to the next caller. Thread-safe.
 */
final class TokenBucket {
  private final Scheduler clock;
  private final int tokens;
  private final long period;
  private long full; // guarded by this, as the next one
  private long fraction; // in `tokens`-ths of a nanosecond, against drift
  // the times of places that were left; guarded by this
  private final PriorityQueue<Long> left = new PriorityQueue<>((one, other) -> Long.signum(one - other));

  TokenBucket(Scheduler clock, int tokens, Duration period) {
    this.clock = clock;
    this.tokens = tokens;
    this.period = Durations.nanos(period);
    this.full = clock.nanoTime();
  }

  void take() throws InterruptedException {
    long at = reserve();
    boolean taken = false;
    try {
      clock.sleepUntil(at);
      taken = true;
    } finally {
      if (!taken) leave(at);
    }
  }

  private synchronized void leave(long at) {
    left.add(at);
  }

  /** Returns the time at which the token is available. */
  private synchronized long reserve() {
    long now = clock.nanoTime();
    for (var place = left.poll(); place != null; place = left.poll()) {
      if (place - now > 0) return place;
      full -= period / tokens; // no caller has used the token, so the bucket has one more
    }
    if (full - now <= 0) {
      full = now;
      fraction = 0;
    }
    fraction += period % tokens;
    long carry = fraction >= tokens ? 1 : 0;
    fraction -= carry * tokens;
    full = now + Math.min(2 * Durations.MAX_NANOS, full - now + period / tokens + carry);
    return full - period;
  }
}
