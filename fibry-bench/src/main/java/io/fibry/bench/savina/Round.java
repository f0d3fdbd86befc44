package io.fibry.bench.savina;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;

/**
 * One run of one side of a program. Receives the result, and cleans up at its close. Actors of
 * Pekko are stopped, and threads are interrupted; idle actors of Fibry without a reference are
 * garbage. Thread-safe.
 */
final class Round implements AutoCloseable {
  static final ActorBuilder<Object> FIBERS = ActorSystem.anonymous();
  /** Actors that handle a request on the asker's thread if they are idle. */
  static final ActorBuilder<Object> INLINE = FIBERS.inlineRequests();
  /** Actors whose handlers do not block, on a FIFO pool with a thread for each processor. */
  static final ActorBuilder<Object> POOL =
      ActorSystem.anonymous().strategy(Strategy.of(new ForkJoinPool(Runtime.getRuntime().availableProcessors(),
          ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true)));
  private static final int LIMIT = 60; // seconds

  private final CompletableFuture<Long> result = new CompletableFuture<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ConcurrentLinkedQueue<ActorRef<?>> pekkoActors = new ConcurrentLinkedQueue<>();
  private final AtomicInteger missingParts = new AtomicInteger();
  private final AtomicLong sum = new AtomicLong();
  private volatile long endTime; // a nanoTime; written before the result is completed, read by the measuring thread

  // ---- the result

  void setResult(long value) {
    endTime = System.nanoTime();
    result.complete(value);
  }

  void fail(Throwable cause) {
    result.completeExceptionally(cause);
  }

  /** Makes the result the sum of the next {@code count} calls of {@link #addPart}. */
  void expectParts(int count) {
    missingParts.set(count);
  }

  void addPart(long value) {
    sum.addAndGet(value);
    if (missingParts.decrementAndGet() == 0) setResult(sum.get());
  }

  long result() throws Exception {
    try {
      return result.get(LIMIT, TimeUnit.SECONDS);
    } catch (TimeoutException timeout) {
      throw new IllegalStateException("no result within " + LIMIT + " s", timeout);
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof Exception cause ? cause : failure;
    }
  }

  long endTime() {
    return endTime;
  }

  // ---- threads and actors

  /** Runs the task on a virtual thread, which {@link #close} interrupts. */
  void start(Handler.Task task) {
    threads.execute(() -> {
      try {
        task.run();
      } catch (InterruptedException interruption) { // by close()
      } catch (Throwable failure) {
        fail(failure);
      }
    });
  }

  /**
   * Runs the task on a virtual thread of the scheduler that runs fibers of Fibry. The threads that
   * the task starts run there, too.
   */
  void startBesideActors(Handler.Task task) {
    FIBERS.newActor((Handler.Task started) -> start(started)).sendMessage(task);
  }

  /** Starts a virtual thread that handles the messages of a queue: the simplest possible actor. */
  <M> void serve(BlockingQueue<M> queue, Handler<M> handler) {
    start(() -> {
      for (;;) handler.handle(queue.take());
    });
  }

  /** Spawns the Pekko actor that spawns all others. */
  <M> ActorRef<M> spawn(Behavior<M> main) {
    var actor = PekkoSystem.spawn(main);
    pekkoActors.add(actor);
    return actor;
  }

  @Override
  public void close() {
    threads.shutdownNow();
    pekkoActors.forEach(PekkoSystem::stop);
    threads.close();
  }
}
