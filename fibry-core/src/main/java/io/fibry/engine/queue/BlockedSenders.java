package io.fibry.engine.queue;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The senders that wait for room, first come, first served. Guarded by its queue. */
final class BlockedSenders<E> {
  private final ArrayDeque<QueueEntry<E>> entries = new ArrayDeque<>(1); // most queues never block
  private volatile boolean empty = true; // written under the monitor, read without

  boolean isEmpty() {
    return empty;
  }

  void add(QueueEntry<E> entry) {
    entry.sender = Thread.currentThread();
    entry.goTo(QueueEntry.BLOCKED);
    entries.add(entry);
    empty = false;
  }

  QueueEntry<E> first() {
    return entries.getFirst();
  }

  void remove(QueueEntry<E> entry) {
    entries.remove(entry);
    empty = entries.isEmpty();
  }

  List<QueueEntry<E>> clear() {
    var all = List.copyOf(entries);
    entries.clear();
    empty = true;
    return all;
  }

  /** Each sender looks whether it waits for itself. */
  void alert() {
    for (var entry : entries) LockSupport.unpark(entry.sender);
  }

  /**
   * The fence: unpark may only read where an earlier one left its permit, and the sender that takes
   * this permit must see where its entry is.
   */
  static void wake(QueueEntry<?> entry) {
    VarHandle.fullFence();
    LockSupport.unpark(entry.sender);
    entry.sender = null; // the arrivals keep their newest entry
  }
}
