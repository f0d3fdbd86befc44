package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.bench.peer.BoundedExecutor;
import io.fibry.flow.Pipeline;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Workloads of pools and pipelines, and of the simplest programs with the same guarantees. A pool
 * has four workers, a pipeline has a thread per stage, and a sender waits while the capacity is
 * exhausted. Delayed tasks have 5,000 workers, and no sender waits.
 */
final class PoolWorkloads {
  private static final int WORKERS = 4;
  private static final int CAPACITY = 1_024;
  private static final int STAGE_CAPACITY = 64;
  private static final int DELAYED_WORKERS = 5_000;
  private static final Duration DELAY = Duration.ofMillis(50);

  private PoolWorkloads() {}

  // ---- a task for one of four workers

  static double pool(int times) throws Exception {
    var done = new CountDownLatch(times);
    var pool = Pools.fixed(ActorSystem.anonymous(), WORKERS).newActor((Integer message) -> done.countDown());
    double nanosEach = ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) pool.sendMessage(i);
      done.await();
    });
    pool.close();
    return nanosEach;
  }

  static double executorService(int times) throws Exception {
    var done = new CountDownLatch(times);
    try (var executor = BoundedExecutor.of(WORKERS, CAPACITY)) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) executor.execute(done::countDown);
        done.await();
      });
    }
  }

  static double forkJoinPool(int times) throws Exception {
    var done = new CountDownLatch(times);
    var capacity = new Semaphore(CAPACITY + WORKERS);
    try (var executor = new ForkJoinPool(WORKERS)) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) {
          capacity.acquire();
          executor.execute(() -> {
            done.countDown();
            capacity.release();
          });
        }
        done.await();
      });
    }
  }

  static double threadPerTask(int times) throws Exception {
    var done = new CountDownLatch(times);
    var capacity = new Semaphore(CAPACITY + WORKERS);
    var permits = new Semaphore(WORKERS);
    return ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) {
        capacity.acquire();
        Thread.startVirtualThread(() -> {
          permits.acquireUninterruptibly();
          done.countDown();
          permits.release();
          capacity.release();
        });
      }
      done.await();
    });
  }

  // ---- tasks that begin after a delay

  static double delayedTasksOfPool(int times) throws Exception {
    var done = new CountDownLatch(times);
    // unbounded, because a full mailbox drops messages of timers
    try (var pool = Pools.fixed(ActorSystem.anonymous().mailbox(Mailbox.unbounded()), DELAYED_WORKERS)
        .newActor((Integer message) -> done.countDown())) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) pool.sendMessageLater(i, DELAY);
        done.await();
      });
    }
  }

  static double delayedVirtualThreads(int times) throws Exception {
    var done = new CountDownLatch(times);
    var permits = new Semaphore(DELAYED_WORKERS);
    try (var scheduler = Executors.newScheduledThreadPool(1)) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) scheduler.schedule(() -> Thread.startVirtualThread(() -> {
          permits.acquireUninterruptibly();
          done.countDown();
          permits.release();
        }), DELAY.toMillis(), TimeUnit.MILLISECONDS);
        done.await();
      });
    }
  }

  // ---- a message through three stages, which run at the same time and keep the order

  static double pipeline(int times) throws Exception {
    var done = new CountDownLatch(times);
    var pipeline = Pipeline.of(ActorSystem.anonymous(), (Integer n) -> n).then(n -> n).into(n -> done.countDown());
    double nanosEach = ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) pipeline.sendMessage(i);
      done.await();
    });
    pipeline.close();
    return nanosEach;
  }

  static double virtualThreadsAndQueues(int times) throws Exception {
    var firstQueue = new ArrayBlockingQueue<Integer>(STAGE_CAPACITY);
    var secondQueue = new ArrayBlockingQueue<Integer>(STAGE_CAPACITY);
    var thirdQueue = new ArrayBlockingQueue<Integer>(STAGE_CAPACITY);
    var done = new CountDownLatch(times);
    startStage(times, firstQueue, secondQueue::put);
    startStage(times, secondQueue, thirdQueue::put);
    startStage(times, thirdQueue, n -> done.countDown());
    return ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) firstQueue.put(i);
      done.await();
    });
  }

  private interface Step {
    void take(Integer n) throws InterruptedException;
  }

  private static void startStage(int times, BlockingQueue<Integer> queue, Step step) {
    Thread.startVirtualThread(() -> {
      try {
        for (int i = 0; i < times; i++) step.take(queue.take());
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    });
  }
}
