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
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does it cost to send a message through three stages that overlap, in order, with room for 64
 * before each? One operation is one message, from the first stage to the last; the sender is a
 * virtual thread.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-Djmh.executor=VIRTUAL")
public class PipelineStages {
  private static final int MESSAGES = 20_000;
  private static final int ROOM = 64;

  /** What goes through: how far it came, and who waits for it. */
  private record Item(int number, CountDownLatch done) {
    Item next() {
      return new Item(number + 1, done);
    }
  }

  private final Actor<Item> pipeline =
      Pipeline.from(ActorSystem.anonymous(), Item::next).then(Item::next).into(item -> item.done.countDown());
  private final Actor<Item> parallel =
      Pipeline.from(ActorSystem.anonymous(), Item::next).then(2, Item::next).into(item -> item.done.countDown());
  private final Queues threads = new Queues(Thread.ofPlatform().daemon()::start);
  private final Queues fibers = new Queues(Thread::startVirtualThread);
  private final Executor one = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor two = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Executor three = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  private final Semaphore room = new Semaphore(3 * ROOM);
  private final ForkJoinPool forkJoin = new ForkJoinPool(3);

  /** A thread for each stage, which takes from one bounded queue and puts into the next. */
  private static final class Queues {
    private final BlockingQueue<Item> first = new ArrayBlockingQueue<>(ROOM);

    Queues(Executor threads) {
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

  /** Ends the threads. */
  @TearDown
  public void close() {
    pipeline.close();
    parallel.close();
    forkJoin.shutdown();
  }

  private interface Way {
    void send(Item item) throws InterruptedException;
  }

  private static void sendAll(Way way) throws InterruptedException {
    var done = new CountDownLatch(MESSAGES);
    for (int i = 0; i < MESSAGES; i++) way.send(new Item(0, done));
    done.await();
  }

  /**
   * Three stages.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void pipeline() throws InterruptedException {
    sendAll(pipeline::sendMessage);
  }

  /**
   * Three stages, of which the middle one handles two at once, in order.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void parallelStage() throws InterruptedException {
    sendAll(parallel::sendMessage);
  }

  /**
   * A reference: a platform thread for each stage, bounded queues between.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void threadsAndQueues() throws InterruptedException {
    sendAll(threads.first::put);
  }

  /**
   * A reference: a virtual thread for each stage, bounded queues between.
   *
   * @throws InterruptedException never
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void virtualThreadsAndQueues() throws InterruptedException {
    sendAll(fibers.first::put);
  }

  /**
   * A reference: an executor of one thread for each stage; a semaphore bounds the whole.
   *
   * @throws InterruptedException never
   */
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

  /**
   * A reference: stages as tasks of a ForkJoinPool; a semaphore bounds the whole. Keeps no order.
   *
   * @throws InterruptedException never
   */
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
