package io.fibry.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Lets the handler of a selective {@link GuardedQueue} choose its next message. Guarded by the
 * queue's monitor; the filter runs outside the monitor.
 */
final class SelectiveReceive<E> {
  private final GuardedQueue<E> queue;
  private Thread receiver; // the thread inside `receive`, or null
  // entries that came since the receiver last tested entries; null outside `receive`
  private List<QueueEntry<E>> newEntries;
  // the receiver waits until this returns true, or an entry arrives; null while the receiver does
  // not wait
  private BooleanSupplier isWaitOver;

  SelectiveReceive(GuardedQueue<E> queue) {
    this.queue = queue;
  }

  E receive(Predicate<? super E> filter, BooleanSupplier isOver) {
    var candidates = begin();
    try {
      while (true) {
        for (var entry : candidates) {
          E item = itemIfQueued(entry);
          if (item != null && filter.test(item) && queue.remove(entry)) return item;
        }
        setWaitCondition(isOver);
        ManagedPark.until(
            () -> hasNewEntries() || isOver.getAsBoolean() || Thread.currentThread().isInterrupted() || queue.isShut,
            queue);
        setWaitCondition(null);
        candidates = takeNewEntries();
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
      newEntries = new ArrayList<>();
      return queue.order.entries(Integer.MAX_VALUE);
    }
  }

  private E itemIfQueued(QueueEntry<E> entry) {
    synchronized (queue) {
      return entry.state == QueueEntry.QUEUE ? entry.item : null;
    }
  }

  private boolean hasNewEntries() {
    synchronized (queue) {
      return !newEntries.isEmpty();
    }
  }

  private List<QueueEntry<E>> takeNewEntries() {
    synchronized (queue) {
      if (newEntries.isEmpty()) return List.of();
      var entries = newEntries;
      newEntries = new ArrayList<>();
      queue.order.dropGoneAndSort(entries);
      return entries;
    }
  }

  private void setWaitCondition(BooleanSupplier isOver) {
    synchronized (queue) {
      isWaitOver = isOver;
    }
  }

  private void end() {
    synchronized (queue) {
      isWaitOver = null;
      receiver = null;
      newEntries = null;
    }
  }

  // ---- under the monitor

  void notifyArrival(QueueEntry<E> entry) {
    if (receiver == null) return;
    newEntries.add(entry);
    LockSupport.unpark(receiver);
  }

  boolean isWaiting() {
    return isWaitOver != null && newEntries.isEmpty() && !receiver.isInterrupted() && !isWaitOver.getAsBoolean();
  }

  Thread receiver() {
    return receiver;
  }
}
