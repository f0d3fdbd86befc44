package io.fibry.pool;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Permits for actors to end at the same time: a thousand, since each runs its {@code onStop} on a
 * thread. If none of a thousand ends for a second, a thousand others may; otherwise a few actors
 * that hang would keep all others alive. Used by the sweeper.
 */
final class EndPermits {
  private static final Logger LOG = LoggerFactory.getLogger("io.fibry.pool.Entities");
  private static final int MAX_ENDING = 1_000;
  private static final Duration MAX_WAIT = Duration.ofSeconds(1);

  private final Supplier<String> entities;
  private final Scheduler clock;
  private volatile Semaphore permits = new Semaphore(MAX_ENDING); // replaced by the clock while the sweeper waits

  EndPermits(Supplier<String> entities, Scheduler clock) {
    this.entities = entities;
    this.clock = clock;
  }

  /** Waits for a permit. Returns the semaphore that it is to be given back to. */
  Semaphore acquire() {
    var from = permits;
    if (from.tryAcquire()) return from;
    var timer = clock.schedule(MAX_WAIT, () -> {
      permits = new Semaphore(MAX_ENDING);
      from.release(); // wakes the sweeper
    });
    from.acquireUninterruptibly();
    timer.cancel();
    if (permits == from) return from;
    LOG.warn("none of {} actors of {} that were told to end has ended for a second, perhaps because their onStop "
        + "hangs; others are told now, too", MAX_ENDING, entities.get());
    return acquire();
  }
}
