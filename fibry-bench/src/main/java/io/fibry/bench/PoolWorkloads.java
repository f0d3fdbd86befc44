package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.bench.peer.BoundedExecutor;
import io.fibry.flow.Pipeline;
import io.fibry.pool.Pools;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;

/**
 * Pools and pipelines, and the plainest programs that give the same guarantee: four workers, or a
 * thread per stage, and a sender that waits for room.
 */
final class PoolWorkloads {
  private static final int WORKERS = 4;
  private static final int ROOM = 1_024;
  private static final int STAGE_ROOM = 64;

  private PoolWorkloads() {}

  // ---- a task for one of four workers

  static double pool(int times) throws Exception {
    var done = new CountDownLatch(times);
    var pool = Pools.fixed(ActorSystem.anonymous(), WORKERS).newActor((Integer message) -> done.countDown());
    double each = ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) pool.sendMessage(i);
      done.await();
    });
    pool.close();
    return each;
  }

  static double executorService(int times) throws Exception {
    var done = new CountDownLatch(times);
    try (var executor = BoundedExecutor.of(WORKERS, ROOM)) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) executor.execute(done::countDown);
        done.await();
      });
    }
  }

  static double forkJoinPool(int times) throws Exception {
    var done = new CountDownLatch(times);
    var room = new Semaphore(ROOM + WORKERS);
    try (var executor = new ForkJoinPool(WORKERS)) {
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) {
          room.acquire();
          executor.execute(() -> {
            done.countDown();
            room.release();
          });
        }
        done.await();
      });
    }
  }

  static double threadPerTask(int times) throws Exception {
    var done = new CountDownLatch(times);
    var room = new Semaphore(ROOM + WORKERS);
    var permits = new Semaphore(WORKERS);
    return ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) {
        room.acquire();
        Thread.startVirtualThread(() -> {
          permits.acquireUninterruptibly();
          done.countDown();
          permits.release();
          room.release();
        });
      }
      done.await();
    });
  }

  // ---- a message through three stages that overlap, in order

  static double pipeline(int times) throws Exception {
    var done = new CountDownLatch(times);
    var in = Pipeline.of(ActorSystem.anonymous(), (Integer n) -> n).then(n -> n).into(n -> done.countDown());
    double each = ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) in.sendMessage(i);
      done.await();
    });
    in.close();
    return each;
  }

  static double virtualThreadsAndQueues(int times) throws Exception {
    var first = new ArrayBlockingQueue<Integer>(STAGE_ROOM);
    var second = new ArrayBlockingQueue<Integer>(STAGE_ROOM);
    var third = new ArrayBlockingQueue<Integer>(STAGE_ROOM);
    var done = new CountDownLatch(times);
    stage(times, first, second::put);
    stage(times, second, third::put);
    stage(times, third, n -> done.countDown());
    return ActorWorkloads.onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) first.put(i);
      done.await();
    });
  }

  private interface Step {
    void take(Integer n) throws InterruptedException;
  }

  private static void stage(int times, BlockingQueue<Integer> from, Step step) {
    Thread.startVirtualThread(() -> {
      try {
        for (int i = 0; i < times; i++) step.take(from.take());
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    });
  }
}
