package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * How the handler of a selective {@link GuardedQueue} chooses. Guarded by the queue; the predicate
 * runs outside the monitor.
 */
final class SelectiveReceive<E> {
  private final GuardedQueue<E> queue;
  private Thread receiver; // the thread inside `receive`, or null
  private List<QueueEntry<E>> arrived; // since it last looked
  private BooleanSupplier over; // the receiver waits until this is true, or for an arrival; null while it does not wait

  SelectiveReceive(GuardedQueue<E> queue) {
    this.queue = queue;
  }

  E receive(Predicate<? super E> fits, BooleanSupplier isOver) {
    var candidates = begin();
    try {
      while (true) {
        for (var entry : candidates) {
          E item = item(entry);
          if (item != null && fits.test(item) && queue.remove(entry)) return item;
        }
        waitUntil(isOver);
        ManagedPark.until(
            () -> hasArrived() || isOver.getAsBoolean() || Thread.currentThread().isInterrupted() || queue.shut,
            queue);
        waitUntil(null);
        candidates = takeArrived();
        if (candidates.isEmpty()) return null;
      }
    } finally {
      end();
    }
  }

  private List<QueueEntry<E>> begin() {
    synchronized (queue) {
      if (receiver != null)
        throw new IllegalStateException("the predicate of a receive called receive; let it only look at the message");
      receiver = Thread.currentThread();
      arrived = new ArrayList<>();
      return queue.order.entries(Integer.MAX_VALUE);
    }
  }

  private E item(QueueEntry<E> entry) {
    synchronized (queue) {
      return entry.where == QueueEntry.QUEUE ? entry.item : null;
    }
  }

  private boolean hasArrived() {
    synchronized (queue) {
      return !arrived.isEmpty();
    }
  }

  private List<QueueEntry<E>> takeArrived() {
    synchronized (queue) {
      if (arrived.isEmpty()) return List.of();
      var news = arrived;
      arrived = new ArrayList<>();
      queue.order.sort(news);
      return news;
    }
  }

  private void waitUntil(BooleanSupplier isOver) {
    synchronized (queue) {
      over = isOver;
    }
  }

  private void end() {
    synchronized (queue) {
      over = null;
      receiver = null;
      arrived = null;
    }
  }

  // ---- under the monitor

  void notifyArrival(QueueEntry<E> entry) {
    if (receiver == null) return;
    arrived.add(entry);
    LockSupport.unpark(receiver);
  }

  boolean isWaiting() {
    return over != null && arrived.isEmpty() && !receiver.isInterrupted() && !over.getAsBoolean();
  }

  Thread receiver() {
    return receiver;
  }
}
