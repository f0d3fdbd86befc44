package io.fibry.jdbc;

import io.fibry.store.spi.PendingWrite;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A queue of writes, from many threads to the writing thread, in order. */
final class BatchQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // this field and the fields below: guarded by lock
  private final ArrayDeque<PendingWrite<?>> queue = new ArrayDeque<>();
  private boolean isWaiting; // whether the taking thread waits
  private boolean closed;

  /** Adds an entry. Returns false if the queue is closed. */
  boolean add(PendingWrite<?> entry) {
    lock.lock();
    try {
      if (closed) return false;
      queue.add(entry);
      if (isWaiting) changed.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for entries, and takes at most {@code maxEntries} of at most {@code maxBytes} in all, but
   * always at least one entry. Returns an empty list if the queue is closed and empty.
   */
  List<PendingWrite<?>> take(int maxEntries, int maxBytes) {
    lock.lock();
    try {
      isWaiting = true;
      while (queue.isEmpty() && !closed) changed.awaitUninterruptibly();
      isWaiting = false;
      // allocated first: if memory is short, no entry is lost
      var batch = new ArrayList<PendingWrite<?>>(Math.min(maxEntries, queue.size()));
      long bytes = 0;
      for (var head = queue.peek(); head != null && batch.size() < maxEntries; head = queue.peek()) {
        bytes += head.size();
        if (bytes > maxBytes && !batch.isEmpty()) break;
        batch.add(queue.poll());
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }
}
