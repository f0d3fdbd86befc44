package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The time-outs and delays of {@link java.util.concurrent.CompletableFuture}. */
public final class DelayTap {
  private DelayTap() {}

  /** Java 21: for all of them. */
  public static ScheduledFuture<?> delay(Runnable task, long delay, TimeUnit unit) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null
        ? (ScheduledFuture<?>) Of21.DELAY.invokeExact(task, delay, unit)
        : new MachineTimer(schedule(machine, task, unit.toNanos(delay)));
  }

  /** Java 25: for all of them, and for the delays of a {@link ForkJoinPool}. */
  public static ScheduledFuture<?> scheduleDelayedTask(ForkJoinPool pool, ScheduledFuture<?> task) {
    var machine = MachineLookup.machine();
    if (machine == null) return (ScheduledFuture<?>) MachineLookup.call(Of25.SCHEDULE, pool, task);
    if (pool != PoolTap.pool()) throw PoolTap.refused("the delays of a ForkJoinPool");
    long delay = (long) Of25.WHEN.get(task) - (long) MachineLookup.call(Of25.NOW);
    var late = new DelayedTask((Runnable) Of25.RUNNABLE.get(task));
    Of25.RUNNABLE.set(task, (Runnable) late);
    late.timer = schedule(machine, (Runnable) task, delay);
    return task;
  }

  /** Java 25: for a future that is complete, whose time-out is needed no more. */
  public static boolean cancel(Future<?> task, boolean interrupt) {
    if (Of25.TASK.isInstance(task) && (Runnable) Of25.RUNNABLE.get(task) instanceof DelayedTask late)
      late.timer.cancel(false);
    return task.cancel(interrupt);
  }

  /** On a thread of its own: it may run what users have chained to the future. */
  private static Future<?> schedule(SimulatedMachine machine, Runnable task, long nanos) {
    return machine.schedule(() -> machine.threads().newThread(task).start(), nanos);
  }

  /** A task of the JDK, and the timer that starts it. */
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

  /** Initialised by the agent, on the JDK that has these. */
  static final class Of21 {
    private static final MethodHandle DELAY =
        JdkInternals.function(JdkInternals.type("java.util.concurrent.CompletableFuture$Delayer"), "delay",
            ScheduledFuture.class,
            Runnable.class, long.class, TimeUnit.class);

    private Of21() {}
  }

  /** Initialised by the agent, on the JDK that has these. */
  static final class Of25 {
    private static final Class<?> TASK = JdkInternals.type("java.util.concurrent.DelayScheduler$ScheduledForkJoinTask");
    private static final VarHandle WHEN = JdkInternals.field(TASK, "when", long.class);
    private static final VarHandle RUNNABLE = JdkInternals.field(TASK, "runnable", Runnable.class);
    private static final MethodHandle NOW =
        JdkInternals.function(JdkInternals.type("java.util.concurrent.DelayScheduler"), "now", long.class);
    private static final MethodHandle SCHEDULE =
        JdkInternals.method(ForkJoinPool.class, "scheduleDelayedTask", TASK, TASK);

    private Of25() {}
  }
}
