package io.fibry.engine.queue;

import io.fibry.spi.PoolSpec;

/**
 * An entry of a {@link SharedQueue}. Guarded by the queue's monitor, once the entry has been
 * offered.
 */
final class PoolEntry<E> extends RankedEntry<E> {
  final int weight;
  // null once the lane is known: the key may be the message, which must not stay in memory
  Object key;
  KeyLanes.KeyLane<E> lane; // null: the entry has no key, or its lane is not known yet
  WorkerSlot<E> slot; // the slot of the worker that handles the entry, or null
  // whether the entry waits again, because its worker did not get it; then the entry is not counted
  boolean isTakenBack;

  PoolEntry(E item, Object message, int weight, Object key) {
    super(item, message, false);
    this.weight = weight;
    this.key = key;
  }

  @SuppressWarnings("unchecked") // only messages that the pool can take are weighed and have a key
  static <E> PoolEntry<E> of(E item, Object message, PoolSpec<?> spec, Object receiver) {
    var typedSpec = (PoolSpec<Object>) spec;
    int weight = typedSpec.weight().isEmpty() ? 1 : typedSpec.weight().get().applyAsInt(message);
    if (weight < 1 || weight > spec.permits())
      throw new IllegalArgumentException("a message for " + receiver + " weighs " + weight
          + "; it must weigh at least 1 and at most " + spec.permits() + ", all permits of the pool");
    Object key = typedSpec.key().isEmpty() ? null : typedSpec.key().get().apply(message);
    if (key == null && spec.isByKey())
      throw new NullPointerException("the key of a message for " + receiver + " was null; give each message a key");
    return new PoolEntry<>(item, message, weight, key);
  }

  @Override
  boolean hasEntered() {
    return isTakenBack || super.hasEntered();
  }
}
