package io.fibry.bench.peer;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A platform or virtual thread with a queue of the JDK. {@code LinkedTransferQueue} is the fastest
 * queue without a bound, and {@code ArrayBlockingQueue} has a bound. {@code PriorityBlockingQueue}
 * sorts messages, but does not keep the order of equal messages. For a delayed message, another
 * thread of the same kind sleeps and then sends it.
 */
final class ThreadWithQueue implements Peer.Requests, Peer.BoundedMailboxes, Peer.PriorityMailboxes, Peer.Timers {
  private final Function<Runnable, Thread> starter;

  ThreadWithQueue(Function<Runnable, Thread> starter) {
    this.starter = starter;
  }

  private record QueueReceiver<M>(BlockingQueue<M> queue, Thread thread) implements Receiver<M> {
    @Override
    public void send(M message) {
      try {
        queue.put(message);
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    }

    @Override
    public void end() {
      ReceiverThreads.end(thread);
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return receiver(new LinkedTransferQueue<>(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int capacity, Consumer<M> handler) {
    return receiver(new ArrayBlockingQueue<>(capacity), handler);
  }

  @Override
  public <M extends Comparable<M>> Receiver<M> prioritized(Consumer<M> handler) {
    return receiver(new PriorityBlockingQueue<>(), handler);
  }

  private <M> Receiver<M> receiver(BlockingQueue<M> queue, Consumer<M> handler) {
    return new QueueReceiver<>(queue, starter.apply(ReceiverThreads.receiveLoop(queue::take, handler)));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return ReceiverThreads.answerer(this, handler);
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    return starter.apply(() -> {
      try {
        Thread.sleep(delay);
        receiver.send(message);
      } catch (InterruptedException cancellation) {
        Thread.currentThread().interrupt();
      }
    })::interrupt;
  }
}
