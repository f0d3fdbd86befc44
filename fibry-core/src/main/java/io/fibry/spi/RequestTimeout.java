package io.fibry.spi;

import io.fibry.engine.message.ExpiryTimer;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;

/**
 * The limit of a request that is probably answered long before its limit. Libraries that carry
 * requests between processes set such a limit for each request. Such a limit costs much less than a
 * timer of {@link Scheduler#schedule}, because requests that are answered within a few milliseconds
 * need no timer. Thread-safe.
 */
public final class RequestTimeout {
  private RequestTimeout() {}

  /**
   * Runs a task when a limit has passed, unless the limit is cancelled before.
   *
   * @param clock measures the limit
   * @param limit from now; zero or more
   * @param task must be short and must not block, because it runs on the thread of the clock
   * @return cancels the limit
   */
  public static Scheduler.Timer start(Scheduler clock, Duration limit, Runnable task) {
    return ExpiryTimer.start(Objects.requireNonNull(clock, "clock"), Objects.requireNonNull(limit, "limit"),
        Objects.requireNonNull(task, "task"));
  }
}
