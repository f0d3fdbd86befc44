package io.fibry.bench;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.bench.peer.BoundedExecutor;
import io.fibry.pool.Pools;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of a small task for one of four workers, from sending to completion. All bounded sides
 * give the same guarantee: four tasks run at once, 1,024 tasks may wait, and further senders wait.
 */
public class PoolTasks extends JmhBenchmark {
  private static final int TASKS = 20_000;
  private static final int WORKERS = 4;
  private static final int CAPACITY = 1_024;

  /** The number of steps that each task computes. */
  @Param({"0", "1000"})
  public int work;

  private final Handler<CountDownLatch> task = remaining -> {
    spin();
    remaining.countDown();
  };
  private final Actor<CountDownLatch> fibers = Pools.fixed(ActorSystem.anonymous(), WORKERS).newActor(task);
  private final Actor<CountDownLatch> threads =
      Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD), WORKERS).newActor(task);
  private final Actor<CountDownLatch> perMessage = Pools.perMessage(ActorSystem.anonymous()).newActor(task);
  private final Actor<CountDownLatch> byKey =
      Pools.byKey(ActorSystem.anonymous(), WORKERS, (CountDownLatch remaining) -> remaining.getCount() & 15)
          .newActor(task);
  private final ThreadPoolExecutor executor = BoundedExecutor.of(WORKERS, CAPACITY);
  private final ForkJoinPool forkJoin = new ForkJoinPool(WORKERS);
  private final Semaphore capacity = new Semaphore(CAPACITY + WORKERS);
  private final Semaphore permits = new Semaphore(WORKERS);

  private long result; // written so that the loop is not optimized away

  private void spin() {
    long x = work;
    for (int i = 0; i < work; i++) x = x * 31 + i;
    if (x == 42) result = x;
  }

  @TearDown
  public void close() {
    for (var pool : new Actor<?>[] {fibers, threads, perMessage, byKey}) pool.close();
    executor.shutdown();
    forkJoin.shutdown();
  }

  private void sendAll(Actor<CountDownLatch> pool) throws InterruptedException {
    var remaining = new CountDownLatch(TASKS);
    for (int i = 0; i < TASKS; i++) pool.sendMessage(remaining);
    remaining.await();
  }

  private void executeAll(Executor executor) throws InterruptedException {
    var remaining = new CountDownLatch(TASKS);
    for (int i = 0; i < TASKS; i++) {
      executor.execute(() -> {
        spin();
        remaining.countDown();
      });
    }
    remaining.await();
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void fibers() throws InterruptedException {
    sendAll(fibers);
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threads() throws InterruptedException {
    sendAll(threads);
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void byKey() throws InterruptedException {
    sendAll(byKey);
  }

  /** Has no bound, in contrast to the other pools of Fibry. */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void perMessage() throws InterruptedException {
    sendAll(perMessage);
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void executorService() throws InterruptedException {
    executeAll(executor);
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void forkJoinPool() throws InterruptedException {
    executeAll(code -> {
      capacity.acquireUninterruptibly();
      forkJoin.execute(() -> {
        try {
          code.run();
        } finally {
          capacity.release();
        }
      });
    });
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threadPerTask() throws InterruptedException {
    executeAll(code -> {
      capacity.acquireUninterruptibly();
      Thread.startVirtualThread(() -> {
        permits.acquireUninterruptibly();
        try {
          code.run();
        } finally {
          permits.release();
          capacity.release();
        }
      });
    });
  }

  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threadPerTaskUnbounded() throws InterruptedException {
    executeAll(Thread::startVirtualThread);
  }
}
