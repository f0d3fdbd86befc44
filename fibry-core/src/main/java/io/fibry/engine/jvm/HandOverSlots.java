package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Places for drains that wait for a fiber, chosen by the number of the thread. Each reference in a
 * slot is taken out once.
 */
final class HandOverSlots {
  private static final int APART = 32; // references: slots on one line of a cache would slow each other down

  private final int mask;
  private final AtomicReferenceArray<WokenDrain> drains;
  private final int[] uses; // plain: where a count is lost, the monitor sleeps early, and is woken again

  HandOverSlots(int least) {
    int count = Integer.highestOneBit(2 * least - 1);
    this.mask = count - 1;
    this.drains = new AtomicReferenceArray<>((count + 1) * APART);
    this.uses = new int[(count + 1) * APART];
  }

  int count() {
    return mask + 1;
  }

  private int mine() {
    return index((int) Thread.currentThread().threadId() & mask);
  }

  private static int index(int slot) {
    return (slot + 1) * APART;
  }

  /** Returns the drain that was in the slot, or null if it was empty. */
  WokenDrain put(WokenDrain drain) {
    int mine = mine();
    uses[mine]++;
    return drains.getAndSet(mine, drain);
  }

  /** Returns null if the slot is empty. */
  WokenDrain take() {
    int mine = mine();
    return drains.getPlain(mine) == null ? null : drains.getAndSet(mine, null);
  }

  WokenDrain at(int slot) {
    return drains.get(index(slot));
  }

  /** Returns false if the drain has left the slot. */
  boolean take(int slot, WokenDrain drain) {
    return drains.compareAndSet(index(slot), drain, null);
  }

  /** How often drains were laid. */
  int uses() {
    int sum = 0;
    for (int slot = 0; slot <= mask; slot++) sum += uses[index(slot)];
    return sum;
  }
}
