package io.fibry.engine.queue;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Blocked senders, first come first served. Guarded by its queue, but for the look whether somebody
 * stands there.
 */
final class BlockedSenders<E> {
  private final ArrayDeque<Entry<E>> entries = new ArrayDeque<>(1); // most queues never have a line
  private volatile boolean empty = true; // written under the monitor; read by senders too

  boolean isEmpty() {
    return empty;
  }

  /** For its sender. */
  void add(Entry<E> entry) {
    entry.sender = Thread.currentThread();
    entry.goTo(Entry.BLOCKED);
    entries.add(entry);
    empty = false;
  }

  Entry<E> first() {
    return entries.getFirst();
  }

  void remove(Entry<E> entry) {
    entries.remove(entry);
    empty = entries.isEmpty();
  }

  /** All who stood there. */
  List<Entry<E>> clear() {
    var all = List.copyOf(entries);
    entries.clear();
    empty = true;
    return all;
  }

  /** Lets them look whether they wait for somebody who waits for them. */
  void alert() {
    for (var entry : entries) LockSupport.unpark(entry.sender);
  }

  /**
   * The fence: unpark only looks, where it finds a permit that an earlier one left. The sender
   * takes that, and must then see where its place stands now.
   */
  static void wake(Entry<?> entry) {
    VarHandle.fullFence();
    LockSupport.unpark(entry.sender);
    entry.sender = null; // the inbox keeps its newest place
  }
}
