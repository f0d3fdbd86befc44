package io.fibry.bench;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.pool.Pools;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does it cost to have a small task done by one of four workers? All sides give the same
 * guarantee: four at once, 1,024 may wait, and who sends one more waits. One operation is one task,
 * from sending to done; the sender is a virtual thread.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-Djmh.executor=VIRTUAL")
public class PoolTasks {
  private static final int TASKS = 20_000;
  private static final int WORKERS = 4;
  private static final int ROOM = 1_024;

  /** How much each task computes. */
  @Param({"0", "1000"})
  public int work;

  private final Handler<CountDownLatch> task = done -> {
    spin();
    done.countDown();
  };
  private final Actor<CountDownLatch> fibers = Pools.fixed(ActorSystem.anonymous(), WORKERS).newActor(task);
  private final Actor<CountDownLatch> threads =
      Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD), WORKERS).newActor(task);
  private final Actor<CountDownLatch> perMessage = Pools.perMessage(ActorSystem.anonymous()).newActor(task);
  private final Actor<CountDownLatch> byKey =
      Pools.byKey(ActorSystem.anonymous(), WORKERS, (CountDownLatch done) -> done.getCount() & 15).newActor(task);
  private final RejectedExecutionHandler waiting = (waits, executor) -> {
    try {
      executor.getQueue().put(waits);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  };
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(WORKERS, WORKERS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(ROOM), waiting);
  private final ForkJoinPool forkJoin = new ForkJoinPool(WORKERS);
  private final Semaphore room = new Semaphore(ROOM + WORKERS);
  private final Semaphore side = new Semaphore(WORKERS);

  private long spun;

  private void spin() {
    long x = work;
    for (int i = 0; i < work; i++) x = x * 31 + i;
    if (x == 42) spun = x;
  }

  /** Ends the threads. */
  @TearDown
  public void close() {
    for (var pool : new Actor<?>[] {fibers, threads, perMessage, byKey}) pool.close();
    executor.shutdown();
    forkJoin.shutdown();
  }

  private void sendAll(Actor<CountDownLatch> pool) throws InterruptedException {
    var done = new CountDownLatch(TASKS);
    for (int i = 0; i < TASKS; i++) pool.sendMessage(done);
    done.await();
  }

  private void executeAll(Executor executor) throws InterruptedException {
    var done = new CountDownLatch(TASKS);
    for (int i = 0; i < TASKS; i++) {
      executor.execute(() -> {
        spin();
        done.countDown();
      });
    }
    done.await();
  }

  /**
   * A pool on virtual threads.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void fibers() throws InterruptedException {
    sendAll(fibers);
  }

  /**
   * A pool on platform threads.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threads() throws InterruptedException {
    sendAll(threads);
  }

  /**
   * A pool by key, of sixteen keys.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void byKey() throws InterruptedException {
    sendAll(byKey);
  }

  /**
   * A worker for each message: no bound.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void perMessage() throws InterruptedException {
    sendAll(perMessage);
  }

  /**
   * A reference: platform threads behind a bounded queue.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void executorService() throws InterruptedException {
    executeAll(executor);
  }

  /**
   * A reference: a ForkJoinPool that a semaphore keeps from being flooded.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void forkJoinPool() throws InterruptedException {
    executeAll(code -> {
      room.acquireUninterruptibly();
      forkJoin.execute(() -> {
        try {
          code.run();
        } finally {
          room.release();
        }
      });
    });
  }

  /**
   * A reference: a virtual thread for each task, of which a semaphore lets four work.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threadPerTask() throws InterruptedException {
    executeAll(code -> {
      room.acquireUninterruptibly();
      Thread.startVirtualThread(() -> {
        side.acquireUninterruptibly();
        try {
          code.run();
        } finally {
          side.release();
          room.release();
        }
      });
    });
  }

  /**
   * The reference of a worker for each message: a virtual thread for each task, without any bound.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void threadPerTaskUnbounded() throws InterruptedException {
    executeAll(Thread::startVirtualThread);
  }
}
