package io.fibry.support;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A clock for limits in tests. It runs slower where this JVM gets less processor time, so a limit
 * permits at least the same amount of work on every machine.
 *
 * <p>A daemon thread does a known piece of work twice a second, and compares its duration with
 * {@link #REFERENCE_DURATION}. If the work takes five times as long, because other processes have
 * the processors or because the processor is slow, a second of the machine counts as 0.2 s here.
 * The piece is longer than a time slice of the operating system: a shorter piece would end before
 * other processes get their turn. If the machine is suspended for a minute, that counts as one
 * second.
 *
 * <p>The thread works only while the clock is read. It allocates nothing, so it also works where a
 * test fills the memory. With {@code -Dfibry.pace=wall} this clock is {@link System#nanoTime}.
 * Simulated tests need this setting, because their threads and their time belong to the simulation.
 */
public final class Pace {
  /** The duration in ns of the known work on the machine for which the limits were chosen. */
  static final long REFERENCE_DURATION = TimeUnit.MILLISECONDS.toNanos(24);
  private static final int STEPS = 12_000_000;
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(480);
  private static final long MAX_COUNTED = TimeUnit.SECONDS.toNanos(1); // for each measurement, also after a suspension
  private static final long MAX_UNREAD = TimeUnit.SECONDS.toNanos(5); // the thread parks after this time without reads
  static final boolean USES_WALL_CLOCK = "wall".equals(System.getProperty("fibry.pace"));

  private static volatile long total; // ns; written by the measuring thread
  private static volatile long lastRead = System.nanoTime(); // written by readers
  private static volatile Thread thread; // written under the class's monitor
  static volatile long sink; // keeps the compiler from removing the work

  private Pace() {}

  /**
   * Returns this clock's time in nanoseconds. Only differences have a meaning, as with
   * {@link System#nanoTime}. The value changes about twice a second.
   */
  public static long nanoTime() {
    if (USES_WALL_CLOCK) return System.nanoTime();
    lastRead = System.nanoTime();
    var measurer = thread;
    if (measurer == null) start();
    else LockSupport.unpark(measurer);
    return total;
  }

  private static synchronized void start() {
    if (thread != null) return;
    var measurer = new Thread(null, Pace::measure, "pace", 64 << 10);
    measurer.setDaemon(true);
    measurer.start();
    thread = measurer;
  }

  private static void measure() {
    doWork(); // the JVM compiles it during this first run
    for (long lastTime = System.nanoTime();;) {
      for (long pauseEnd = System.nanoTime() + PAUSE, remaining = PAUSE; remaining > 0;
          remaining = pauseEnd - System.nanoTime())
        LockSupport.parkNanos(remaining);
      long workStart = System.nanoTime();
      doWork();
      long now = System.nanoTime();
      double slowness = Math.max(1, (double) (now - workStart) / REFERENCE_DURATION);
      total += (long) (Math.min(now - lastTime, MAX_COUNTED) / slowness);
      lastTime = now;
      if (now - lastRead > MAX_UNREAD) {
        while (System.nanoTime() - lastRead > MAX_UNREAD) LockSupport.park();
        lastTime = System.nanoTime();
      }
    }
  }

  static void doWork() {
    long bits = sink | 1;
    for (int i = 0; i < STEPS; i++) {
      bits ^= bits << 13;
      bits ^= bits >>> 7;
      bits ^= bits << 17;
    }
    sink = bits;
  }
}
