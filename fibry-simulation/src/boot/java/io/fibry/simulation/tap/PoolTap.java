package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/**
 * Pools of the JDK. A future's default pool becomes simulated threads. Other tasks that a simulated
 * thread gives to a {@link ForkJoinPool} are refused, because the threads of the pool are real.
 */
public final class PoolTap {
  /** On Java 25 an executor, and a {@link ForkJoinPool} too. */
  private static final Object DEFAULT =
      JdkInternals
          .shared(CompletableFuture.class, "ASYNC_POOL", MachineLookup.LATER ? ForkJoinPool.class : Executor.class)
          .get();
  private static final MethodHandle SUBMIT =
      JdkInternals.method(ForkJoinPool.class, "poolSubmit", ForkJoinTask.class, boolean.class, ForkJoinTask.class);
  /** The scheduler of virtual threads that are not simulated: a simulated thread may wake those. */
  private static final ForkJoinPool SCHEDULER = (ForkJoinPool) JdkInternals
      .shared(JdkInternals.type("java.lang.VirtualThread"), "DEFAULT_SCHEDULER", ForkJoinPool.class).get();

  private PoolTap() {}

  /** Java 21: for the default executor of futures and publishers. */
  public static Executor executor() {
    return MachineLookup.machine() == null ? (Executor) DEFAULT : PoolTap::start;
  }

  /** Java 25: for the same, which has the pool's type there. */
  public static ForkJoinPool pool() {
    return MachineLookup.machine() == null ? (ForkJoinPool) DEFAULT : SimulatedPool.POOL;
  }

  /** For a task that is forked where no worker of a pool is. */
  public static ForkJoinPool common() {
    if (MachineLookup.machine() != null) throw refused("the common pool");
    return ForkJoinPool.commonPool();
  }

  /** For whatever is given to a pool. */
  public static ForkJoinTask<?> poolSubmit(ForkJoinPool pool, boolean signal, ForkJoinTask<?> task) throws Throwable {
    if (pool != SCHEDULER && MachineLookup.machine() != null)
      throw refused(pool == ForkJoinPool.commonPool() ? "the common pool" : "a ForkJoinPool");
    return (ForkJoinTask<?>) SUBMIT.invokeExact(pool, signal, task);
  }

  static UnsupportedOperationException refused(String what) {
    return MachineLookup.refused("uses " + what,
        "whose threads are real and run in no order that a seed decides; make the stream sequential,"
            + " or give the task to an executor of your own, as Executors.newVirtualThreadPerTaskExecutor()");
  }

  private static void start(Runnable task) {
    MachineLookup.machine().threads().newThread(task).start();
  }

  /** Made at first use. Its own threads are never asked for. */
  private static final class SimulatedPool {
    private static final ForkJoinPool POOL = new ForkJoinPool(1) {
      @Override
      public void execute(Runnable task) {
        start(task);
      }
    };
  }
}
