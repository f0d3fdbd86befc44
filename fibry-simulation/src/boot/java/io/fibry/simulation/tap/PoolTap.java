package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/**
 * Redirected calls that give tasks to pools of the JDK. A task for the default pool of futures gets
 * a simulated thread of its own. Other tasks that a simulated thread gives to a
 * {@link ForkJoinPool} are refused, because the threads of the pool are real.
 */
public final class PoolTap {
  /**
   * The default pool of futures: an {@link Executor} on Java 21, a {@link ForkJoinPool} on Java 25.
   */
  private static final Object DEFAULT_POOL =
      JdkInternals
          .staticField(CompletableFuture.class, "ASYNC_POOL",
              MachineLookup.IS_JAVA_25_OR_LATER ? ForkJoinPool.class : Executor.class)
          .get();
  private static final MethodHandle SUBMIT =
      JdkInternals.method(ForkJoinPool.class, "poolSubmit", ForkJoinTask.class, boolean.class, ForkJoinTask.class);
  /**
   * The scheduler of virtual threads that are not simulated. Simulated threads may use it, because
   * they may wake such a thread.
   */
  private static final ForkJoinPool SCHEDULER = (ForkJoinPool) JdkInternals
      .staticField(JdkInternals.type("java.lang.VirtualThread"), "DEFAULT_SCHEDULER", ForkJoinPool.class).get();

  private PoolTap() {}

  /** Java 21: replaces the default executor of futures and publishers. */
  public static Executor executor() {
    return MachineLookup.machine() == null ? (Executor) DEFAULT_POOL : PoolTap::start;
  }

  /** Java 25: replaces the default pool of futures and publishers. */
  public static ForkJoinPool pool() {
    return MachineLookup.machine() == null ? (ForkJoinPool) DEFAULT_POOL : SimulatedPool.POOL;
  }

  /** Replaces the common pool, to which a task is forked outside of a pool's worker threads. */
  public static ForkJoinPool common() {
    if (MachineLookup.machine() != null) throw unsupported("the common pool");
    return ForkJoinPool.commonPool();
  }

  /** Replaces the method through which a {@link ForkJoinPool} gets each of its tasks. */
  public static ForkJoinTask<?> poolSubmit(ForkJoinPool pool, boolean signal, ForkJoinTask<?> task) throws Throwable {
    if (pool != SCHEDULER && MachineLookup.machine() != null)
      throw unsupported(pool == ForkJoinPool.commonPool() ? "the common pool" : "a ForkJoinPool");
    return (ForkJoinTask<?>) SUBMIT.invokeExact(pool, signal, task);
  }

  static UnsupportedOperationException unsupported(String pool) {
    return MachineLookup.unsupported("uses " + pool,
        "whose threads are real and run in no order that a seed decides; make the stream sequential,"
            + " or give the task to an executor of your own, such as Executors.newVirtualThreadPerTaskExecutor()");
  }

  private static void start(Runnable task) {
    MachineLookup.machine().threads().newThread(task).start();
  }

  /**
   * Holds a pool that starts a simulated thread for each task, and never uses threads of its own.
   */
  private static final class SimulatedPool {
    private static final ForkJoinPool POOL = new ForkJoinPool(1) {
      @Override
      public void execute(Runnable task) {
        start(task);
      }
    };
  }
}
