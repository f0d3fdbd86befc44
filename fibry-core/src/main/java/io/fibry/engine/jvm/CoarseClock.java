package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Approximates {@link System#nanoTime} at the cost of a memory read: the engine reads the time
 * at nearly every message. A thread updates the clock. Every second the thread stops the clock and
 * sleeps until the next read, so that the thread does not run in an idle program.
 *
 * <p>The field {@code now} is 0 while the clock is stopped. Only a reader replaces 0, and then
 * unparks the thread. Only the thread replaces another value. So the thread, which parks while
 * {@code now} is 0, cannot miss a reader.
 */
public final class CoarseClock implements Runnable {
  /**
   * How far the clock is behind {@link System#nanoTime} at most, in nanoseconds, as long as the
   * thread of the clock gets a processor.
   */
  public static final long PERIOD = 20_000_000;

  private static final long RETRY_NANOS = 1_000_000_000; // between two tries to start the thread

  private static final VarHandle NOW = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "now",
      VarHandle.class, CoarseClock.class, long.class);
  private static final CoarseClock SYSTEM = new CoarseClock(Duration.ofNanos(PERIOD), 50);

  private final Duration period;
  private final int maxTicks; // updates before the clock is stopped
  private volatile long now;
  private volatile Thread updater; // null until started; written under the monitor
  private long nextTry = System.nanoTime(); // the earliest time of the next try to start the thread; guarded by this

  CoarseClock(Duration period, int maxTicks) {
    this.period = period;
    this.maxTicks = maxTicks;
  }

  /** {@return a time that is never ahead of {@link System#nanoTime}, or 0 in a simulation} */
  public static long systemTime() {
    return SYSTEM.nanoTime();
  }

  long nanoTime() {
    long time = now;
    return time != 0 ? time : startAndRead();
  }

  /** Starts the stopped clock, and returns the present time. */
  private long startAndRead() {
    if (Environment.simulated != null) return 0; // a simulation must not depend on a real thread
    StackProbe.probe(); // here, because a reader that replaces 0 must be able to unpark the thread
    long time = time();
    var thread = updater != null ? updater : startUpdater();
    if (thread != null && NOW.compareAndSet(this, 0L, time)) LockSupport.unpark(thread);
    return time;
  }

  private static long time() {
    long time = System.nanoTime();
    return time == 0 ? -1 : time; // 0 means that the clock is stopped
  }

  /**
   * Starts the thread, unless it runs or the last try was less than a second ago. Returns the
   * thread, or null if it does not run. Without the thread, each reader calls
   * {@link System#nanoTime}.
   */
  private synchronized Thread startUpdater() {
    if (updater != null || System.nanoTime() - nextTry < 0) return updater;
    nextTry = System.nanoTime() + RETRY_NANOS;
    try {
      var thread = DaemonThreads.unstarted("fibry-clock", this);
      thread.start();
      return updater = thread;
    } catch (OutOfMemoryError noThread) {
      return null;
    }
  }

  @Override
  public void run() {
    while (true) {
      while (now == 0) {
        LockSupport.park(this);
        Thread.interrupted(); // otherwise the next park would return at once
      }
      update();
    }
  }

  private void update() {
    try {
      for (int ticks = 0; ticks < maxTicks; ticks++) {
        LockSupport.parkNanos(this, period.toNanos());
        Thread.interrupted();
        now = time();
      }
    } catch (Throwable noMemory) { // the next reader starts the clock again
    } finally {
      now = 0;
    }
  }
}
