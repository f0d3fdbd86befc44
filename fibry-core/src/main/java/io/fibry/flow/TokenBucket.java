package io.fibry.flow;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.PriorityQueue;

/**
 * A token bucket, stored as the time at which it will be full. Each token that is taken moves that
 * time into the future, by the period divided by the number of tokens. A caller waits until that
 * time is at most a period away. Callers are served in order. If a caller is killed while it waits,
 * its reserved time passes to the next caller. Thread-safe.
 */
final class TokenBucket {
  private final Scheduler clock;
  private final int tokens;
  private final long period; // ns
  private long fullTime; // time of the clock, in ns; guarded by this, like all fields below
  private long fraction; // the part of `fullTime` below a nanosecond, in units of 1 ns / `tokens`; prevents a drift
  // times that killed callers had reserved, in ns
  private final PriorityQueue<Long> returnedTimes = new PriorityQueue<>((a, b) -> Long.signum(a - b));

  TokenBucket(Scheduler clock, int tokens, Duration period) {
    this.clock = clock;
    this.tokens = tokens;
    this.period = Durations.nanos(period);
    this.fullTime = clock.nanoTime();
  }

  void awaitToken() throws InterruptedException {
    long tokenTime = reserve();
    boolean isTaken = false;
    try {
      clock.sleepUntil(tokenTime);
      isTaken = true;
    } finally {
      if (!isTaken) returnTime(tokenTime);
    }
  }

  private synchronized void returnTime(long tokenTime) {
    returnedTimes.add(tokenTime);
  }

  /** Reserves a token, and returns the time at which it is available. */
  private synchronized long reserve() {
    long now = clock.nanoTime();
    for (var tokenTime = returnedTimes.poll(); tokenTime != null; tokenTime = returnedTimes.poll()) {
      if (tokenTime - now > 0) return tokenTime;
      fullTime -= period / tokens; // no caller has used the token, so the bucket has one more
    }
    if (fullTime - now <= 0) {
      fullTime = now;
      fraction = 0;
    }
    fraction += period % tokens;
    long carry = fraction >= tokens ? 1 : 0;
    fraction -= carry * tokens;
    fullTime = now + Math.min(2 * Durations.MAX_NANOS, fullTime - now + period / tokens + carry);
    return fullTime - period;
  }
}
