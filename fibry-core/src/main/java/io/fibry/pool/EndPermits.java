package io.fibry.pool;

import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * Limits how many actors end at the same time. There are a thousand permits, because each ending
 * actor runs its {@code onStop} on a thread. If no permit is released for a second, a thousand more
 * actors may begin to end. Otherwise a thousand hanging actors would keep all other actors alive.
 * Only the sweeper acquires permits.
 */
final class EndPermits {
  private static final Logger LOG = SafeLogger.of("io.fibry.pool.Entities");
  private static final int MAX_ENDING = 1_000;
  private static final Duration MAX_WAIT = Duration.ofSeconds(1);

  private final Supplier<String> description;
  private final Scheduler clock;
  private volatile Semaphore permits = new Semaphore(MAX_ENDING); // replaced by a timer while the sweeper waits

  EndPermits(Supplier<String> description, Scheduler clock) {
    this.description = description;
    this.clock = clock;
  }

  /** Waits for a permit. Returns the semaphore to which the permit must be released. */
  Semaphore acquire() {
    var current = permits;
    if (current.tryAcquire()) return current;
    var timer = clock.schedule(MAX_WAIT, () -> {
      permits = new Semaphore(MAX_ENDING);
      current.release(); // wakes the sweeper
    });
    current.acquireUninterruptibly();
    timer.cancel();
    if (permits == current) return current;
    LOG.warn("none of {} actors of {} that were asked to end has ended for a second, perhaps because their onStop "
        + "hangs; others are asked to end now, too", MAX_ENDING, description.get());
    return acquire();
  }
}
