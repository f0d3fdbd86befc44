package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Redirected calls that read a clock, or that schedule the end of a virtual thread's timed wait.
 */
public final class ClockTap {
  private static final MethodHandle ADJUSTMENT =
      JdkInternals.staticMethod(JdkInternals.type("jdk.internal.misc.VM"), "getNanoTimeAdjustment", long.class,
          long.class);
  private static final MethodHandle SCHEDULE = MachineLookup.IS_JAVA_25_OR_LATER
      ? JdkInternals.staticMethod(JdkInternals.type("java.lang.VirtualThread$DelayedTaskSchedulers"), "schedule",
          Future.class,
          Runnable.class, long.class, TimeUnit.class)
      : null;
  private static final ScheduledExecutorService UNPARKER = MachineLookup.IS_JAVA_25_OR_LATER
      ? null
      : (ScheduledExecutorService) JdkInternals
          .staticField(JdkInternals.type("java.lang.VirtualThread"), "UNPARKER", ScheduledExecutorService.class).get();

  private ClockTap() {}

  /** Replaces {@link System#nanoTime}. */
  public static long nanoTime() {
    var machine = MachineLookup.machine();
    return machine == null ? System.nanoTime() : machine.nanoTime();
  }

  /** Replaces {@link System#currentTimeMillis}. */
  public static long currentTimeMillis() {
    var machine = MachineLookup.machine();
    return machine == null ? System.currentTimeMillis() : machine.currentTimeMillis();
  }

  /**
   * Replaces the clock of java.time: returns the nanoseconds since a time that is given in seconds
   * since the epoch.
   */
  public static long getNanoTimeAdjustment(long offsetInSeconds) {
    var machine = MachineLookup.machine();
    if (machine == null) return realAdjustment(offsetInSeconds);
    long nanos = machine.nanoTime();
    long millis = machine.currentTimeMillis();
    return (millis / 1000 - offsetInSeconds) * 1_000_000_000 + millis % 1000 * 1_000_000
        + Math.floorMod(nanos, 1_000_000L);
  }

  private static long realAdjustment(long offsetInSeconds) {
    try {
      return (long) ADJUSTMENT.invokeExact(offsetInSeconds);
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Replaces {@link Thread#onSpinWait}. If the carrier itself spins, the run's clock does not move.
   */
  public static void onSpinWait() {
    var machine = Thread.currentThread().isVirtual() ? MachineLookup.machine() : null;
    if (machine == null) Thread.onSpinWait();
    else machine.spin();
  }

  /** Java 25: replaces the call by which a virtual thread schedules the end of its timed wait. */
  public static Future<?> schedule(Runnable task, long delay, TimeUnit unit) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null
        ? (Future<?>) SCHEDULE.invokeExact(task, delay, unit)
        : machine.schedule(task, unit.toNanos(delay));
  }

  /** Java 21: replaces the executor that ends timed waits of virtual threads. */
  public static ScheduledExecutorService unparker() {
    var machine = MachineLookup.machine();
    return machine == null ? UNPARKER : new SimulatedUnparker(machine);
  }
}
