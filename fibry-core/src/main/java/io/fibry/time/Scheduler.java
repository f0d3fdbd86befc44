package io.fibry.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/**
 * Runs tasks later. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scheduler"}
 *
 * <p>Tasks must be short and not block: they share one thread. An exception of a task is logged; a
 * repeating task continues. A negative delay, or a period that is not positive, is an
 * {@link IllegalArgumentException}. Delays beyond 146 years count as 146 years. The methods must
 * return soon, because senders, askers and kills call them.
 */
public interface Scheduler {

  /**
   * The scheduler of the process: one daemon thread.
   *
   * @return always the same
   */
  static Scheduler system() {
    return SystemScheduler.INSTANCE;
  }

  /**
   * The present time; only differences have a meaning.
   *
   * @return nanoseconds
   */
  long nanoTime();

  /**
   * Runs a task once.
   *
   * @param delay from now
   * @param task the code to run
   * @return its timer
   */
  Timer schedule(Duration delay, Runnable task);

  /**
   * Runs a task once, at a time. If that time has passed, or passes while the timer is set, the
   * task runs at once; a {@link ManualScheduler} runs it on this thread. A program that computes a
   * delay instead sets its timer too late if a test moves the clock in between.
   *
   * @param time by {@link #nanoTime}
   * @param task the code to run
   * @return its timer
   */
  default Timer scheduleAt(long time, Runnable task) {
    while (true) {
      long now = nanoTime();
      long left = time - now;
      var timer = schedule(Duration.ofNanos(Math.max(0, left)), task);
      // A test may have moved the clock before the timer was set; a millisecond passes by itself.
      if (left <= 0 || nanoTime() - now < 1_000_000 || !isCancelled(timer)) return timer;
    }
  }

  /** A timer of a user's scheduler that cannot be cancelled stays. */
  private static boolean isCancelled(Timer timer) {
    try {
      return timer.cancel();
    } catch (RuntimeException cannotBeCancelled) {
      return false;
    }
  }

  /**
   * Runs a task in each period; a late run causes no burst.
   *
   * @param initial the delay of the first start
   * @param period between starts
   * @param task the code to run
   * @return its timer
   */
  Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task);

  /**
   * Runs a task again and again.
   *
   * @param initial the delay of the first start
   * @param delay between runs
   * @param task the code to run
   * @return its timer
   */
  Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task);

  /**
   * Waits on this thread until {@link #nanoTime} has reached a time. A handler waits so for the
   * scope's clock, which a test can move.
   *
   * @param time by this clock
   * @throws InterruptedException if interrupted
   */
  default void sleepUntil(long time) throws InterruptedException {
    if (time - nanoTime() <= 0) return;
    var reached = new CountDownLatch(1);
    var timer = scheduleAt(time, reached::countDown);
    try {
      // the clock of a user may have moved to the time since, and run nothing until it moves again
      if (time - nanoTime() > 0) reached.await();
    } finally {
      timer.cancel();
    }
  }

  /**
   * Waits on this thread until a future is done, in whatever way.
   *
   * @param future to wait for
   * @param limit by this clock; zero or less does not wait
   * @return whether it was done in time
   * @throws InterruptedException if interrupted
   */
  default boolean awaitDone(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    if (future.isDone() || !limit.isPositive()) return future.isDone(); // a manual clock runs nothing before it moves
    var over = new CompletableFuture<Void>();
    var timer = schedule(limit, () -> over.complete(null));
    try {
      CompletableFuture.anyOf(future, over).get();
    } catch (ExecutionException failed) {
      return true;
    } finally {
      timer.cancel();
    }
    return future.isDone();
  }

  /**
   * Whether time passes only when the program moves it, as in tests. If true, a handler or actor
   * that waits for this clock counts as quiet.
   *
   * @return false, unless the clock knows better
   */
  default boolean isManual() {
    return false;
  }

  /**
   * Whether this thread is in {@link #sleepUntil}, and stays there until the clock is moved.
   *
   * @param thread any
   * @return false, unless the clock is manual
   */
  default boolean isAsleep(Thread thread) {
    return false;
  }

  /** A scheduled task. Thread-safe. */
  interface Timer {

    /**
     * No run starts after this method has returned; a run that has started continues.
     *
     * @return true if it was still due
     */
    boolean cancel();
  }
}
