package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Redirected calls for time-outs and delays of {@link java.util.concurrent.CompletableFuture}. */
public final class DelayTap {
  private DelayTap() {}

  /** Java 21: replaces the method that starts each time-out and delay of a future. */
  public static ScheduledFuture<?> delay(Runnable task, long delay, TimeUnit unit) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null
        ? (ScheduledFuture<?>) Of21.DELAY.invokeExact(task, delay, unit)
        : new MachineTimer(schedule(machine, task, unit.toNanos(delay)));
  }

  /**
   * Java 25: replaces the start of time-outs and delays of futures, and of a {@link ForkJoinPool}.
   */
  public static ScheduledFuture<?> scheduleDelayedTask(ForkJoinPool pool, ScheduledFuture<?> task) {
    var machine = MachineLookup.machine();
    if (machine == null) return (ScheduledFuture<?>) MachineLookup.call(Of25.SCHEDULE, pool, task);
    if (pool != PoolTap.pool()) throw PoolTap.unsupported("the delays of a ForkJoinPool");
    long delay = (long) Of25.WHEN.get(task) - (long) MachineLookup.call(Of25.NOW);
    var delayed = new DelayedTask((Runnable) Of25.RUNNABLE.get(task));
    Of25.RUNNABLE.set(task, (Runnable) delayed);
    delayed.timer = schedule(machine, (Runnable) task, delay);
    return task;
  }

  /**
   * Java 25: replaces the call that cancels the time-out of a future which was completed in time.
   */
  public static boolean cancel(Future<?> task, boolean interrupt) {
    if (Of25.TASK.isInstance(task) && (Runnable) Of25.RUNNABLE.get(task) instanceof DelayedTask delayed)
      delayed.timer.cancel(false);
    return task.cancel(interrupt);
  }

  /**
   * Runs the task on a new thread, because it may run code that users have chained to the future.
   */
  private static Future<?> schedule(SimulatedMachine machine, Runnable task, long nanos) {
    return machine.schedule(() -> machine.threads().newThread(task).start(), nanos);
  }

  /** A task of the JDK, and the machine's timer that starts it. */
  private static final class DelayedTask implements Runnable {
    private final Runnable task;
    /** Written before another thread of the run can see the task. */
    private Future<?> timer;

    private DelayedTask(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      task.run();
    }
  }

  /** Internals of Java 21; the agent initializes this class on that JDK only. */
  static final class Of21 {
    private static final MethodHandle DELAY =
        JdkInternals.staticMethod(JdkInternals.type("java.util.concurrent.CompletableFuture$Delayer"), "delay",
            ScheduledFuture.class,
            Runnable.class, long.class, TimeUnit.class);

    private Of21() {}
  }

  /** Internals of Java 25 and later; the agent initializes this class on that JDK only. */
  static final class Of25 {
    private static final Class<?> TASK = JdkInternals.type("java.util.concurrent.DelayScheduler$ScheduledForkJoinTask");
    private static final VarHandle WHEN = JdkInternals.field(TASK, "when", long.class);
    private static final VarHandle RUNNABLE = JdkInternals.field(TASK, "runnable", Runnable.class);
    private static final MethodHandle NOW =
        JdkInternals.staticMethod(JdkInternals.type("java.util.concurrent.DelayScheduler"), "now", long.class);
    private static final MethodHandle SCHEDULE =
        JdkInternals.method(ForkJoinPool.class, "scheduleDelayedTask", TASK, TASK);

    private Of25() {}
  }
}
