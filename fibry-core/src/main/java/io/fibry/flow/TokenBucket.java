package io.fibry.flow;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A bucket of tokens, as one number: when it will be full. Each token taken puts that off by the
 * time one takes to come; who finds it more than a whole period away waits until it is a period
 * away. So no token is counted, nothing runs while nobody asks, and who asks first is served first.
 * Thread-safe.
 */
final class TokenBucket {
  private static final long LONGEST = Long.MAX_VALUE / 4; // the sum of two is no overflow

  private final Scheduler clock;
  private final int tokens;
  private final long period; // in which so many come
  private long full; // when it will be full; guarded by this
  // and so many of a nanosecond's `tokens` parts: without them the rate would drift; guarded by
  // this
  private long rest;

  TokenBucket(Scheduler clock, int tokens, Duration period) {
    this.clock = clock;
    this.tokens = tokens;
    this.period = period.compareTo(Duration.ofNanos(LONGEST)) < 0 ? period.toNanos() : LONGEST;
    this.full = clock.nanoTime();
  }

  /** Takes a token, or waits for one. */
  void take() throws InterruptedException {
    long turn = turn();
    long wait = turn - clock.nanoTime();
    if (wait <= 0) return;
    var come = new CountDownLatch(1);
    var timer = clock.after(Duration.ofNanos(wait), come::countDown);
    try {
      // else a clock set by hand was moved before the timer was set
      if (turn - clock.nanoTime() > 0) come.await();
    } finally {
      timer.cancel();
    }
  }

  /** When the next token is there for who asks now. */
  private synchronized long turn() {
    long now = clock.nanoTime();
    if (full - now <= 0) {
      full = now;
      rest = 0;
    }
    rest += period % tokens;
    long carry = rest >= tokens ? 1 : 0;
    rest -= carry * tokens;
    full = now + Math.min(2 * LONGEST, full - now + period / tokens + carry);
    return full - period;
  }
}
