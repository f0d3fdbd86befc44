package io.fibry.bench.peer;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * An {@code ExecutorService} of one platform thread for each actor; a message is a task. One
 * {@code ScheduledThreadPoolExecutor} sends all later messages; it removes canceled ones, as its
 * documentation advises.
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
    return new TaskReceiver<>(BoundedExecutor.of(1, room), handler);
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
