package io.fibry.bench;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.flow.Pipeline;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of a message through three stages that overlap, keep the order, and have room for 64
 * each, from the first stage to the last.
 */
public class PipelineStages extends JmhQuestion {
  private static final int MESSAGES = 20_000;
  private static final int ROOM = 64;

  private record Item(int number, CountDownLatch done) {
    Item next() {
      return new Item(number + 1, done);
    }
  }

  private final Actor<Item> pipeline =
      Pipeline.of(ActorSystem.anonymous(), Item::next).then(Item::next).into(item -> item.done.countDown());
  private final Actor<Item> parallel =
      Pipeline.of(ActorSystem.anonymous(), Item::next).then(2, Item::next).into(item -> item.done.countDown());
  private final QueueChain threads = new QueueChain(Thread.ofPlatform().daemon()::start);
  private final QueueChain fibers = new QueueChain(Thread::startVirtualThread);
  private final Executor one = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor two = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor three = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Semaphore room = new Semaphore(3 * ROOM);
  private final ForkJoinPool forkJoin = new ForkJoinPool(3);

  /** A thread for each stage, with bounded queues between. */
  private static final class QueueChain {
    private final BlockingQueue<Item> first = new ArrayBlockingQueue<>(ROOM);

    QueueChain(Executor threads) {
      var second = new ArrayBlockingQueue<Item>(ROOM);
      var third = new ArrayBlockingQueue<Item>(ROOM);
      threads.execute(() -> forEver(first, item -> second.put(item.next())));
      threads.execute(() -> forEver(second, item -> third.put(item.next())));
      threads.execute(() -> forEver(third, item -> item.done.countDown()));
    }

    private interface Step {
      void take(Item item) throws InterruptedException;
    }

    private static void forEver(BlockingQueue<Item> from, Step step) {
      try {
        while (true) step.take(from.take());
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @TearDown
  public void close() {
    pipeline.close();
    parallel.close();
    forkJoin.shutdown();
  }

  private interface Entrance {
    void send(Item item) throws InterruptedException;
  }

  private static void sendAll(Entrance entrance) throws InterruptedException {
    var done = new CountDownLatch(MESSAGES);
    for (int i = 0; i < MESSAGES; i++) entrance.send(new Item(0, done));
    done.await();
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void pipeline() throws InterruptedException {
    sendAll(pipeline::sendMessage);
  }

  /** The middle stage handles two at once, in order. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void parallelStage() throws InterruptedException {
    sendAll(parallel::sendMessage);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void threadsAndQueues() throws InterruptedException {
    sendAll(threads.first::put);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void virtualThreadsAndQueues() throws InterruptedException {
    sendAll(fibers.first::put);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void executors() throws InterruptedException {
    sendAll(item -> {
      room.acquire();
      one.execute(() -> {
        var second = item.next();
        two.execute(() -> {
          var third = second.next();
          three.execute(() -> {
            third.done.countDown();
            room.release();
          });
        });
      });
    });
  }

  /** Keeps no order. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void forkJoinPool() throws InterruptedException {
    sendAll(item -> {
      room.acquire();
      forkJoin.execute(() -> {
        var second = item.next();
        forkJoin.execute(() -> {
          var third = second.next();
          forkJoin.execute(() -> {
            third.done.countDown();
            room.release();
          });
        });
      });
    });
  }
}
