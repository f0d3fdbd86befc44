package io.fibry.time;

import java.time.Duration;

/**
 * Runs something later. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scheduler"}
 *
 * <p>Tasks must be short and must not block: they share one thread, and the library itself only
 * enqueues messages from it. What a task throws is logged; a repeated task goes on. A negative
 * delay, or a period that is not positive, is an {@link IllegalArgumentException}; delays beyond
 * 146 years count as 146 years.
 */
public interface Scheduler {

  /**
   * The process-wide one: one daemon thread, started at first use.
   *
   * @return always the same one
   */
  static Scheduler system() {
    return SystemScheduler.INSTANCE;
  }

  /**
   * The clock that the delays are measured by; only differences mean anything.
   *
   * @return nanoseconds
   */
  long nanoTime();

  /**
   * Runs it once.
   *
   * @param delay how long from now
   * @param task what to run
   * @return a hold on it
   */
  Timer after(Duration delay, Runnable task);

  /**
   * Runs it at the beginning of each period; a late run is not made up for by a burst.
   *
   * @param initial how long from now the first time
   * @param period from one beginning to the next
   * @param task what to run
   * @return a hold on it
   */
  Timer atFixedRate(Duration initial, Duration period, Runnable task);

  /**
   * Runs it again {@code delay} after the run before ended.
   *
   * @param initial how long from now the first time
   * @param delay from one end to the next beginning
   * @param task what to run
   * @return a hold on it
   */
  Timer withFixedDelay(Duration initial, Duration delay, Runnable task);

  /** Something due later. Thread-safe. */
  interface Timer {

    /**
     * Takes it back: no run begins after this returned; one that has begun goes on.
     *
     * @return true if it was still due
     */
    boolean cancel();
  }
}
