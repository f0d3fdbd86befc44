package io.fibry.mailbox;

import java.util.LinkedHashSet;

/** A place in a {@link SharedQueue}. */
final class Share<E> extends Place<E> {
  /** The messages of one key that wait for one that was taken, or will be before them. Guarded by the queue. */
  static final class Lane<E> {
    final Object key;
    final LinkedHashSet<Share<E>> behind = new LinkedHashSet<>();
    boolean busy; // one of this key is first in line, or being handled

    Lane(Object key) {
      this.key = key;
    }
  }

  final int weight;
  final Object key; // null: none
  Lane<E> lane; // null: none, or not yet; guarded by the queue

  Share(E item, Object message, int weight, Object key) {
    super(item, message, false);
    this.weight = weight;
    this.key = key;
  }
}
