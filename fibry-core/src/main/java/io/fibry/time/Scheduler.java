package io.fibry.time;

import io.fibry.text.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A clock that also runs tasks later. It measures time spans by {@link #nanoTime}, and tells the
 * time of day by {@link #instant}. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="scheduler"}
 *
 * <p>Tasks must be short and must not block, because they share one thread. If a task throws, the
 * exception is logged, and a repeated task still runs again. The methods throw {@link
 * IllegalArgumentException} if a delay is negative, or if a period is not more than zero. A delay
 * or period of more than 146 years counts as 146 years.
 *
 * <p>In a scheduler of your own, each method except {@link #sleep}, {@link #sleepUntil} and {@link
 * #awaitDone} must return soon, because senders, askers and kills call it.
 */
public interface Scheduler extends InstantSource {

  /**
   * Returns the scheduler of the process, which runs its tasks on one daemon thread.
   *
   * @return always the same object
   */
  static Scheduler system() {
    return SystemScheduler.INSTANCE;
  }

  /**
   * Returns the present time. Only the difference of two times has a meaning, as with
   * {@link System#nanoTime}.
   *
   * @return nanoseconds
   */
  long nanoTime();

  /**
   * Returns the time of day. The time of day of a {@link ManualScheduler} moves with its clock.
   *
   * @return by default the time of the system, which may jump
   */
  @Override
  default Instant instant() {
    return Instant.now();
  }

  /**
   * Runs a task once, after a delay.
   *
   * @param delay from now; zero or more
   * @param task the code to run
   * @return the timer, which can be cancelled
   */
  Timer schedule(Duration delay, Runnable task);

  /**
   * Runs a task once, at a time of this clock. If that time has passed, or passes during this call,
   * the task runs at once; a {@link ManualScheduler} then runs it on the current thread. Use this
   * method instead of {@link #schedule} with a computed delay: if a test moves the clock after the
   * computation, that delay is too long.
   *
   * @param time when to run the task, by {@link #nanoTime}
   * @param task the code to run
   * @return the timer, which can be cancelled
   */
  default Timer scheduleAt(long time, Runnable task) {
    while (true) {
      long now = nanoTime();
      long delay = time - now;
      var timer = schedule(Duration.ofNanos(Math.max(0, delay)), task);
      // If a test moved the clock before the timer was set, the timer is late: it is cancelled and
      // set again. If less than a millisecond has passed, either no test moved the clock, or the
      // timer is late by too little to matter.
      if (delay <= 0 || nanoTime() - now < 1_000_000 || !tryCancel(timer)) return timer;
    }
  }

  /** Returns whether the timer was cancelled; false if a user's scheduler cannot cancel it. */
  private static boolean tryCancel(Timer timer) {
    try {
      return timer.cancel();
    } catch (RuntimeException cannotBeCancelled) {
      return false;
    }
  }

  /**
   * Runs a task once in each period. If a run is late, the runs that were missed are skipped.
   *
   * @param initial the delay before the first run; zero or more
   * @param period the time between the starts of two runs; more than zero
   * @param task the code to run
   * @return the timer, which can be cancelled
   */
  Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task);

  /**
   * Runs a task again and again, each time after a delay.
   *
   * @param initial the delay before the first run; zero or more
   * @param delay the time between the end of a run and the next start; more than zero
   * @param task the code to run
   * @return the timer, which can be cancelled
   */
  Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task);

  /**
   * Blocks the current thread for a time span of this clock. A handler calls this method instead of
   * {@link Thread#sleep}, so that a test can move the clock.
   *
   * @param delay how long to sleep; zero returns at once
   * @throws InterruptedException if the thread is interrupted
   */
  default void sleep(Duration delay) throws InterruptedException {
    long nanos = TimeUnit.NANOSECONDS.convert(Durations.requireNotNegative(delay, "delay", "a delay"));
    sleepUntil(nanoTime() + Math.min(Long.MAX_VALUE / 2, nanos)); // at most 146 years
  }

  /**
   * Blocks the current thread until a time of this clock. Use this method instead of {@link #sleep}
   * with a computed delay: if a test moves the clock after the computation, that delay is too long.
   *
   * @param time when to return, by {@link #nanoTime}
   * @throws InterruptedException if the thread is interrupted
   */
  default void sleepUntil(long time) throws InterruptedException {
    if (time - nanoTime() <= 0) return;
    var wakeUp = new WakeUpTask();
    var timer = scheduleAt(time, wakeUp);
    try {
      // A user's clock may have reached the time before the timer was set. Such a clock may run the
      // timer only when the clock is moved again.
      if (time - nanoTime() > 0) while (wakeUp.isPending()) LockSupport.park(this);
    } finally {
      timer.cancel();
    }
  }

  /**
   * Blocks the current thread until a future is completed, with a value or a failure.
   *
   * @param future the future to wait for
   * @param limit how long to wait at most, by this clock; zero or less returns at once
   * @return whether the future is completed
   * @throws InterruptedException if the thread is interrupted
   */
  default boolean awaitDone(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    // without a timer, because a manual clock runs the timer of a zero limit only when it is moved
    if (future.isDone() || !limit.isPositive()) return future.isDone();
    var limitReached = new CompletableFuture<Void>();
    var timer = schedule(limit, () -> limitReached.complete(null));
    try {
      CompletableFuture.anyOf(future, limitReached).get();
    } catch (ExecutionException failure) {
      return true;
    } finally {
      timer.cancel();
    }
    return future.isDone();
  }

  /**
   * Returns whether the time of this clock passes only when the program moves it, as in tests. In
   * this case {@link io.fibry.ActorScope#awaitQuiescence} does not wait for a handler or actor that
   * waits for this clock.
   *
   * @return false by default
   */
  default boolean isManual() {
    return false;
  }

  /**
   * Returns whether a thread is in {@link #sleepUntil} or {@link #sleep}, and stays in it until the
   * clock is moved.
   *
   * @param thread any thread
   * @return false by default, and for each clock that is not manual
   */
  default boolean isAsleep(Thread thread) {
    return false;
  }

  /** A scheduled task. Thread-safe. */
  interface Timer {

    /**
     * Cancels the task. No run starts after this method has returned, but a run that has started
     * continues. A run starts when the scheduler takes the task to run it, which may be shortly
     * before the first instruction of the task.
     *
     * @return true if this call cancelled the task, also during a run of a repeated task; false if
     * the task was already cancelled, or if its only run has started
     */
    boolean cancel();
  }
}
