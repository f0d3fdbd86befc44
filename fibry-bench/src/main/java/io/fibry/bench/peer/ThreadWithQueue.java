package io.fibry.bench.peer;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A thread, platform or virtual, and a queue of the JDK. {@code LinkedTransferQueue} is the fastest
 * without a bound, {@code ArrayBlockingQueue} has a bound, and {@code PriorityBlockingQueue} sorts,
 * but keeps no order among equals. A thread of the same kind sleeps, and sends a later message.
 */
final class ThreadWithQueue implements Peer.Requests, Peer.BoundedMailboxes, Peer.PriorityMailboxes, Peer.Timers {
  private final Function<Runnable, Thread> start;

  ThreadWithQueue(Function<Runnable, Thread> start) {
    this.start = start;
  }

  private record QueueReceiver<M>(BlockingQueue<M> queue, Thread thread) implements Receiver<M> {
    @Override
    public void send(M message) {
      try {
        queue.put(message);
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    }

    @Override
    public void end() {
      ReceiverThreads.end(thread);
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return on(new LinkedTransferQueue<>(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int room, Consumer<M> handler) {
    return on(new ArrayBlockingQueue<>(room), handler);
  }

  @Override
  public <M extends Comparable<M>> Receiver<M> prioritised(Consumer<M> handler) {
    return on(new PriorityBlockingQueue<>(), handler);
  }

  private <M> Receiver<M> on(BlockingQueue<M> queue, Consumer<M> handler) {
    return new QueueReceiver<>(queue, start.apply(ReceiverThreads.forEver(queue::take, handler)));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return ReceiverThreads.answerer(this, handler);
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    return start.apply(() -> {
      try {
        Thread.sleep(delay);
        receiver.send(message);
      } catch (InterruptedException takenBack) {
        Thread.currentThread().interrupt();
      }
    })::interrupt;
  }
}
