package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Approximates {@link System#nanoTime} at the cost of a memory read, because each message records
 * when it began. A thread updates the clock. Every second the thread stops the clock and sleeps
 * until the next read, so that it does not run in an idle program.
 *
 * <p>The field {@code now} is 0 while the clock is stopped. Only a reader replaces 0, and then
 * unparks the thread. Only the thread replaces another value. So the thread, which parks while
 * {@code now} is 0, cannot miss a reader.
 */
public final class CoarseClock implements Runnable {
  /**
   * How far the clock is behind at most, in nanoseconds. It is further behind while its thread gets
   * no processor.
   */
  public static final long PERIOD = 20_000_000;

  private static final long RETRY_NANOS = 1_000_000_000; // between two starts of the thread

  private static final VarHandle NOW = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "now",
      VarHandle.class, CoarseClock.class, long.class);
  private static final CoarseClock SYSTEM = new CoarseClock(Duration.ofNanos(PERIOD), 50);

  private final Duration period;
  private final int maxTicks; // updates before the clock is stopped
  private volatile long now;
  private volatile Thread updater; // null until started; written under the monitor
  private long nextStart = System.nanoTime(); // of the thread, by System.nanoTime; guarded by this

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
    if (Environment.simulated != null) return 0; // a simulation has no threads of its own
    StackProbe.probe(); // first: a reader that replaces 0 must be able to unpark
    long time = time();
    var thread = updater != null ? updater : startUpdater();
    if (thread != null && NOW.compareAndSet(this, 0, time)) LockSupport.unpark(thread);
    return time;
  }

  private static long time() {
    long time = System.nanoTime();
    return time == 0 ? -1 : time; // 0 means that the clock is stopped
  }

  /**
   * {@return the thread, or null if there is no memory for it} Without the thread, each reader
   * calls {@link System#nanoTime}.
   */
  private synchronized Thread startUpdater() {
    if (updater != null || System.nanoTime() - nextStart < 0) return updater;
    nextStart = System.nanoTime() + RETRY_NANOS;
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
        Thread.interrupted(); // otherwise it would not park again
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
