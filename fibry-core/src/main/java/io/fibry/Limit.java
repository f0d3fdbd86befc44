package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** How long one wait may last, by the clock of a scope. */
final class Limit implements BooleanSupplier {
  static final Limit NONE = new Limit(Scheduler.system(), null);
  static final Limit NO_WAIT = new Limit(Scheduler.system(), Duration.ZERO);

  private final Scheduler clock;
  private final Duration limit; // null: for ever
  private final long end;

  private Limit(Scheduler clock, Duration limit) {
    this.clock = clock;
    this.limit = limit;
    this.end = limit == null || limit.isZero() ? 0 : clock.nanoTime() + nanos(limit);
  }

  static Limit of(Scheduler clock, Duration limit) {
    if (limit.isNegative() || limit.isZero()) throw new IllegalArgumentException("a limit of " + limit + " leaves no time to wait; give more than zero");
    return new Limit(clock, limit);
  }

  private static long nanos(Duration limit) {
    return limit.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) < 0 ? limit.toNanos() : Long.MAX_VALUE / 2;
  }

  /** Whether it is over. */
  @Override
  public boolean getAsBoolean() {
    return limit != null && left() <= 0;
  }

  private long left() {
    return end - clock.nanoTime();
  }

  void expire(Asked<?> asked, Object message) {
    asked.expire(message, limit);
  }

  /** Wakes this thread when it is over; null where it never is. */
  Scheduler.Timer waking() {
    var sleeper = Thread.currentThread();
    return limit == null ? null : clock.after(Duration.ofNanos(Math.max(0, left())), () -> LockSupport.unpark(sleeper));
  }

  /** The value of a request, which expires when this is over. */
  <R> R get(Asked<R> asked, Object message) throws InterruptedException, ExecutionException {
    if (limit == null || asked.isDone()) return asked.get();
    if (clock != Scheduler.system()) {
      var timer = clock.after(Duration.ofNanos(Math.max(0, left())), () -> asked.expire(message, limit));
      try {
        return asked.get();
      } finally {
        timer.cancel();
      }
    }
    try {
      return asked.get(left(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException over) {
      asked.expire(message, limit);
      return asked.get();
    }
  }
}
