package io.fibry.engine.queue;

import io.fibry.spi.PoolPolicy;

/** An entry of a {@link SharedQueue}. Guarded by it once offered. */
final class PoolEntry<E> extends RankedEntry<E> {
  final int weight;
  // null once its lane is known: it may be the message, which must not be kept
  Object key;
  KeyLanes.KeyLane<E> lane; // null: none, or not yet
  WorkerSlot<E> slot; // the slot of the worker that handles it, or null
  boolean takenBack; // from a worker: waits again, over the capacity and not counted

  PoolEntry(E item, Object message, int weight, Object key) {
    super(item, message, false);
    this.weight = weight;
    this.key = key;
  }

  @SuppressWarnings("unchecked") // only messages that the pool can take are weighed and have a key
  static <E> PoolEntry<E> of(E item, Object message, PoolPolicy<?> sharing, Object receiver) {
    var typed = (PoolPolicy<Object>) sharing;
    int weight = typed.weight().isEmpty() ? 1 : typed.weight().get().applyAsInt(message);
    if (weight < 1 || weight > sharing.permits())
      throw new IllegalArgumentException("a message for " + receiver + " weighs " + weight
          + "; it must weigh at least 1 and at most " + sharing.permits() + ", all that the pool has");
    Object key = typed.key().isEmpty() ? null : typed.key().get().apply(message);
    if (key == null && sharing.isByKey())
      throw new NullPointerException("the key of a message for " + receiver + " was null; give each message a key");
    return new PoolEntry<>(item, message, weight, key);
  }

  @Override
  boolean hasEntered() {
    return takenBack || super.hasEntered();
  }
}
