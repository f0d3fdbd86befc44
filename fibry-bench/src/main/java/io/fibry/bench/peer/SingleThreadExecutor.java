package io.fibry.bench.peer;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * {@code ExecutorService}s of one platform thread: a message is a task. With a bound, who is
 * rejected waits at the queue. Messages are sent later by one {@code ScheduledThreadPoolExecutor}
 * for all, which forgets what is taken back, as its documentation advises.
 */
final class SingleThreadExecutor implements Peer.Requests, Peer.BoundedMailboxes, Peer.Timers {
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().factory());

  SingleThreadExecutor() {
    clock.setRemoveOnCancelPolicy(true);
  }

  private record TaskReceiver<M>(ExecutorService executor, Consumer<M> handler) implements Receiver<M> {
    @Override
    public void send(M message) {
      executor.execute(() -> handler.accept(message));
    }

    @Override
    public void end() {
      executor.close();
    }
  }

  private static ExecutorService oneThread() {
    return Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new TaskReceiver<>(oneThread(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int room, Consumer<M> handler) {
    return new TaskReceiver<>(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(room),
        Thread.ofPlatform().daemon().factory(), SingleThreadExecutor::waiting), handler);
  }

  private static void waiting(Runnable task, ThreadPoolExecutor executor) {
    try {
      executor.getQueue().put(task);
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    var executor = oneThread();
    return message -> answer(executor, message, handler);
  }

  static <M, R> R answer(ExecutorService executor, M message, Function<M, R> handler) {
    try {
      return executor.submit(() -> handler.apply(message)).get();
    } catch (InterruptedException | ExecutionException never) {
      throw new AssertionError(never);
    }
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    var timer = clock.schedule(() -> receiver.send(message), delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> timer.cancel(false);
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
