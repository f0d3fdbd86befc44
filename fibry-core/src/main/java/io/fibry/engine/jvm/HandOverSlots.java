package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Slots in which drains wait for a fiber. The number of a thread chooses its slot. Each drain is
 * taken out of its slot once.
 */
final class HandOverSlots {
  private static final int STRIDE = 32; // array elements per slot, so that no two share a cache line

  private final int mask;
  private final AtomicReferenceArray<WokenDrain> drains;
  private final int[] useCounts; // racing threads may lose a count: the monitor then sleeps early, and is woken again

  HandOverSlots(int minSlots) {
    int count = Integer.highestOneBit(2 * minSlots - 1);
    this.mask = count - 1;
    this.drains = new AtomicReferenceArray<>((count + 1) * STRIDE);
    this.useCounts = new int[(count + 1) * STRIDE];
  }

  int count() {
    return mask + 1;
  }

  private int ownIndex() {
    return index((int) Thread.currentThread().threadId() & mask);
  }

  private static int index(int slot) {
    return (slot + 1) * STRIDE;
  }

  /**
   * Places a drain in the slot of this thread. Returns the drain that was in the slot, or null if
   * the slot was empty.
   */
  WokenDrain put(WokenDrain drain) {
    int index = ownIndex();
    useCounts[index]++;
    return drains.getAndSet(index, drain);
  }

  /** Takes the drain out of the slot of this thread. Returns null if the slot is empty. */
  WokenDrain take() {
    int index = ownIndex();
    return drains.getPlain(index) == null ? null : drains.getAndSet(index, null);
  }

  WokenDrain peek(int slot) {
    return drains.get(index(slot));
  }

  /** Takes the given drain out of the slot. Returns false if the drain has left the slot. */
  boolean take(int slot, WokenDrain drain) {
    return drains.compareAndSet(index(slot), drain, null);
  }

  /** Returns how often drains were placed in slots. */
  int useCount() {
    int sum = 0;
    for (int slot = 0; slot <= mask; slot++) sum += useCounts[index(slot)];
    return sum;
  }
}
