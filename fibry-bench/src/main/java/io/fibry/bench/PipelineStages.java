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
 * Measures the time of a message from the first to the last of three stages. The stages run at the
 * same time, keep the order of the messages, and each has a capacity of 64 messages.
 */
public class PipelineStages extends JmhBenchmark {
  private static final int MESSAGES = 20_000;
  private static final int CAPACITY = 64;

  private record Item(int number, CountDownLatch done) {
    Item next() {
      return new Item(number + 1, done);
    }
  }

  private final Actor<Item> pipeline =
      Pipeline.of(ActorSystem.anonymous(), Item::next).then(Item::next).into(item -> item.done.countDown());
  private final Actor<Item> parallelPipeline =
      Pipeline.of(ActorSystem.anonymous(), Item::next).then(2, Item::next).into(item -> item.done.countDown());
  private final QueueChain threadChain = new QueueChain(Thread.ofPlatform().daemon()::start);
  private final QueueChain fiberChain = new QueueChain(Thread::startVirtualThread);
  private final Executor firstStage = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor secondStage = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor thirdStage = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Semaphore permits = new Semaphore(3 * CAPACITY);
  private final ForkJoinPool forkJoin = new ForkJoinPool(3);

  /** Three stages by hand: each has a thread, and a bounded queue in front of it. */
  private static final class QueueChain {
    private final BlockingQueue<Item> firstQueue = new ArrayBlockingQueue<>(CAPACITY);

    QueueChain(Executor threads) {
      var secondQueue = new ArrayBlockingQueue<Item>(CAPACITY);
      var thirdQueue = new ArrayBlockingQueue<Item>(CAPACITY);
      threads.execute(() -> runStage(firstQueue, item -> secondQueue.put(item.next())));
      threads.execute(() -> runStage(secondQueue, item -> thirdQueue.put(item.next())));
      threads.execute(() -> runStage(thirdQueue, item -> item.done.countDown()));
    }

    private interface Step {
      void take(Item item) throws InterruptedException;
    }

    private static void runStage(BlockingQueue<Item> queue, Step step) {
      try {
        while (true) step.take(queue.take());
      } catch (InterruptedException interruption) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @TearDown
  public void close() {
    pipeline.close();
    parallelPipeline.close();
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

  /** The middle stage handles two messages at once, and passes them on in order. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void parallelStage() throws InterruptedException {
    sendAll(parallelPipeline::sendMessage);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void threadsAndQueues() throws InterruptedException {
    sendAll(threadChain.firstQueue::put);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void virtualThreadsAndQueues() throws InterruptedException {
    sendAll(fiberChain.firstQueue::put);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void executors() throws InterruptedException {
    sendAll(item -> {
      permits.acquire();
      firstStage.execute(() -> {
        var secondItem = item.next();
        secondStage.execute(() -> {
          var thirdItem = secondItem.next();
          thirdStage.execute(() -> {
            thirdItem.done.countDown();
            permits.release();
          });
        });
      });
    });
  }

  /** This variant does not keep the order of the messages. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void forkJoinPool() throws InterruptedException {
    sendAll(item -> {
      permits.acquire();
      forkJoin.execute(() -> {
        var secondItem = item.next();
        forkJoin.execute(() -> {
          var thirdItem = secondItem.next();
          forkJoin.execute(() -> {
            thirdItem.done.countDown();
            permits.release();
          });
        });
      });
    });
  }
}
