package io.fibry.engine.queue;

import io.fibry.engine.jvm.EngineThreads;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The senders that wait for space, in the order of their arrival. Guarded by the queue's monitor.
 */
final class BlockedSenders<E> {
  private final ArrayDeque<QueueEntry<E>> entries = new ArrayDeque<>(1); // most queues never block
  private volatile boolean isEmpty = true; // written under the monitor, read without it

  boolean isEmpty() {
    return isEmpty;
  }

  void add(QueueEntry<E> entry) {
    entry.sender = Thread.currentThread();
    entry.setState(QueueEntry.BLOCKED);
    entries.add(entry);
    isEmpty = false;
  }

  QueueEntry<E> first() {
    return entries.getFirst();
  }

  void remove(QueueEntry<E> entry) {
    entries.remove(entry);
    isEmpty = entries.isEmpty();
  }

  List<QueueEntry<E>> clear() {
    if (isEmpty) return List.of(); // allocates nothing
    var removedEntries = List.copyOf(entries);
    entries.clear();
    isEmpty = true;
    return removedEntries;
  }

  /** Wakes all senders, so that each checks whether its wait closes a cycle. */
  void alert() {
    for (var entry : entries) LockSupport.unpark(entry.sender);
  }

  /**
   * Wakes the sender of the entry. If the sender already has a park permit, unpark may write
   * nothing. The fence ensures that the sender, when it uses that permit, sees the new state of its
   * entry.
   *
   * @param isNear whether the sender should continue on the carrier of the caller, if there is one
   */
  static void wake(QueueEntry<?> entry, boolean isNear) {
    VarHandle.fullFence();
    if (isNear) EngineThreads.unparkNear(entry.sender);
    else LockSupport.unpark(entry.sender);
    entry.sender = null; // the ArrivalBuffer keeps its newest entry in memory
  }
}
