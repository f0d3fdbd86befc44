package io.fibry.jdbc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A queue from many threads to one, in order. */
final class BatchQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<PendingWrite<?>> queue = new ArrayDeque<>(); // this and below: under the lock
  private boolean isWaiting; // the taking thread waits
  private boolean closed;

  /** Returns false if the entry will not be taken. */
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

  /** Waits until there are some. Returns no entry if the inbox is closed, and all were taken. */
  List<PendingWrite<?>> take(int max, int mostBytes) {
    lock.lock();
    try {
      isWaiting = true;
      while (queue.isEmpty() && !closed) changed.awaitUninterruptibly();
      isWaiting = false;
      // Without memory, it fails before an entry is taken
      var taken = new ArrayList<PendingWrite<?>>(Math.min(max, queue.size()));
      long bytes = 0;
      for (var next = queue.peek(); next != null && taken.size() < max; next = queue.peek()) {
        bytes += next.size();
        if (bytes > mostBytes && !taken.isEmpty()) break;
        taken.add(queue.poll());
      }
      return taken;
    } finally {
      lock.unlock();
    }
  }
}
