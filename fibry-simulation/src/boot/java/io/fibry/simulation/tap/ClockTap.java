package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Clocks, and the waits of virtual threads that end by the clock. */
public final class ClockTap {
  private static final MethodHandle ADJUSTMENT =
      JdkInternals.function(JdkInternals.type("jdk.internal.misc.VM"), "getNanoTimeAdjustment", long.class, long.class);
  private static final MethodHandle SCHEDULE = MachineLookup.LATER
      ? JdkInternals.function(JdkInternals.type("java.lang.VirtualThread$DelayedTaskSchedulers"), "schedule",
          Future.class,
          Runnable.class, long.class, TimeUnit.class)
      : null;
  private static final ScheduledExecutorService UNPARKER = MachineLookup.LATER
      ? null
      : (ScheduledExecutorService) JdkInternals
          .shared(JdkInternals.type("java.lang.VirtualThread"), "UNPARKER", ScheduledExecutorService.class).get();

  private ClockTap() {}

  /** For {@link System#nanoTime}. */
  public static long nanoTime() {
    var machine = MachineLookup.machine();
    return machine == null ? System.nanoTime() : machine.nanoTime();
  }

  /** For {@link System#currentTimeMillis}. */
  public static long currentTimeMillis() {
    var machine = MachineLookup.machine();
    return machine == null ? System.currentTimeMillis() : machine.currentTimeMillis();
  }

  /** For the clock of java.time: nanoseconds since a second of the epoch. */
  public static long getNanoTimeAdjustment(long offsetInSeconds) {
    var machine = MachineLookup.machine();
    if (machine == null) return real(offsetInSeconds);
    long nanos = machine.nanoTime();
    long millis = machine.currentTimeMillis();
    return (millis / 1000 - offsetInSeconds) * 1_000_000_000 + millis % 1000 * 1_000_000
        + Math.floorMod(nanos, 1_000_000L);
  }

  private static long real(long offsetInSeconds) {
    try {
      return (long) ADJUSTMENT.invokeExact(offsetInSeconds);
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** For {@link Thread#onSpinWait}. The carrier's own spinning takes no time of the run. */
  public static void onSpinWait() {
    var machine = Thread.currentThread().isVirtual() ? MachineLookup.machine() : null;
    if (machine == null) Thread.onSpinWait();
    else machine.spin();
  }

  /** Java 25: for the end of a timed wait. */
  public static Future<?> schedule(Runnable task, long delay, TimeUnit unit) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null
        ? (Future<?>) SCHEDULE.invokeExact(task, delay, unit)
        : machine.schedule(task, unit.toNanos(delay));
  }

  /** Java 21: for the executor that ends timed waits. */
  public static ScheduledExecutorService unparker() {
    var machine = MachineLookup.machine();
    return machine == null ? UNPARKER : new SimulatedUnparker(machine);
  }
}
