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
 * {@code ScheduledThreadPoolExecutor} sends all delayed messages. It removes cancelled messages, as
 * its documentation advises.
 */
final class SingleThreadExecutor implements Peer.Requests, Peer.BoundedMailboxes, Peer.Timers {
  private final ScheduledThreadPoolExecutor scheduler =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().factory());

  SingleThreadExecutor() {
    scheduler.setRemoveOnCancelPolicy(true);
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

  private static ExecutorService newExecutor() {
    return Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return new TaskReceiver<>(newExecutor(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int capacity, Consumer<M> handler) {
    return new TaskReceiver<>(BoundedExecutor.of(1, capacity), handler);
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    var executor = newExecutor();
    return message -> answer(executor, message, handler);
  }

  static <M, R> R answer(ExecutorService executor, M message, Function<M, R> handler) {
    try {
      return executor.submit(() -> handler.apply(message)).get();
    } catch (InterruptedException | ExecutionException failure) {
      throw new AssertionError(failure);
    }
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    var timer = scheduler.schedule(() -> receiver.send(message), delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> timer.cancel(false);
  }

  @Override
  public void close() {
    scheduler.shutdownNow();
  }
}
