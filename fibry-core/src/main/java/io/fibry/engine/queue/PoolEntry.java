package io.fibry.engine.queue;

import io.fibry.mailbox.Sharing;

/** A place in a {@link SharedQueue}. */
final class PoolEntry<E> extends RankedEntry<E> {
  final int weight;
  // null: none, or its lane is known: the key may be the message itself, and outlive it in a
  // future. Guarded by the queue once it is offered
  Object key;
  KeyLanes.Lane<E> lane; // null: none, or not yet; guarded by the queue
  WorkerSlot<E> slot; // who is at it, or was given it; null: nobody; guarded by the queue

  PoolEntry(E item, Object message, int weight, Object key) {
    super(item, message, false);
    this.weight = weight;
    this.key = key;
  }

  /** Asks the user's code what it weighs, and what its key is. */
  @SuppressWarnings("unchecked") // only messages that the pool can take are weighed and have a key
  static <E> PoolEntry<E> of(E item, Object message, Sharing<?> sharing, Object receiver) {
    var typed = (Sharing<Object>) sharing;
    int weight = typed.weight().isEmpty() ? 1 : typed.weight().get().applyAsInt(message);
    if (weight < 1 || weight > sharing.permits())
      throw new IllegalArgumentException("a message for " + receiver + " weighs "
          + weight + "; it must weigh at least 1 and at most " + sharing.permits() + ", all that the pool has");
    Object key = typed.key().isEmpty() ? null : typed.key().get().apply(message);
    if (key == null && sharing.byKey())
      throw new NullPointerException("the key of a message for " + receiver + " was null; give each message a key");
    return new PoolEntry<>(item, message, weight, key);
  }
}
