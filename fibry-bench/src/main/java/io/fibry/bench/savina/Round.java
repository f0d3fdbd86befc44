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
 * One run of one side: takes the result, then cleans up. Thread-safe. Idle actors of Fibry without
 * a reference are garbage; actors of Pekko must be stopped, and threads must end.
 */
final class Round implements AutoCloseable {
  static final ActorBuilder<Object> FIBERS = ActorSystem.anonymous();
  /** For handlers that do not block: a thread per processor, first in, first out. */
  static final ActorBuilder<Object> POOL =
      ActorSystem.anonymous().strategy(Strategy.of(new ForkJoinPool(Runtime.getRuntime().availableProcessors(),
          ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true)));
  private static final int LIMIT = 60; // seconds

  private final CompletableFuture<Long> result = new CompletableFuture<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ConcurrentLinkedQueue<ActorRef<?>> pekko = new ConcurrentLinkedQueue<>();
  private final AtomicInteger missing = new AtomicInteger();
  private final AtomicLong sum = new AtomicLong();
  private volatile long ended; // written with the result, read by the measuring thread

  // ---- the result

  void done(long value) {
    ended = System.nanoTime();
    result.complete(value);
  }

  void fail(Throwable cause) {
    result.completeExceptionally(cause);
  }

  /** The result will be the sum of {@code count} parts. */
  void parts(int count) {
    missing.set(count);
  }

  void part(long value) {
    sum.addAndGet(value);
    if (missing.decrementAndGet() == 0) done(sum.get());
  }

  long result() throws Exception {
    try {
      return result.get(LIMIT, TimeUnit.SECONDS);
    } catch (TimeoutException late) {
      throw new IllegalStateException("no result within " + LIMIT + " s", late);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof Exception cause ? cause : failed;
    }
  }

  long ended() {
    return ended;
  }

  // ---- threads and actors

  /** On a virtual thread, which the close interrupts. */
  void start(Handler.Task task) {
    threads.execute(() -> {
      try {
        task.run();
      } catch (InterruptedException closed) { // the end
      } catch (Throwable failure) {
        fail(failure);
      }
    });
  }

  /** The plainest actor: a virtual thread that takes from a queue. */
  <M> void serve(BlockingQueue<M> queue, Handler<M> handler) {
    start(() -> {
      for (;;) handler.handle(queue.take());
    });
  }

  /** Spawns the Pekko actor that spawns all others. */
  <M> ActorRef<M> pekko(Behavior<M> main) {
    var actor = PekkoSystem.spawn(main);
    pekko.add(actor);
    return actor;
  }

  @Override
  public void close() {
    threads.shutdownNow();
    pekko.forEach(PekkoSystem::stop);
    threads.close();
  }
}
