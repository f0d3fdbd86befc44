package io.fibry.carriers;

import org.jspecify.annotations.Nullable;

/**
 * The oldest entry of another carrier's queue, as a searching carrier sees it. The owner of the
 * queue computes if this entry does not change for a while. The searching carrier then takes the
 * entry over, which is faster than the {@link CarrierWatch}. A queue that has only near entries is
 * left to the watch, so such an entry is not remembered. Used by one carrier only.
 */
final class OldestEntry {
  private @Nullable RunQueue queue;
  private int index;
  private long since; // a nanoTime: when this entry was seen first

  /**
   * Returns whether the queue's oldest entry was seen {@link WakePolicy#STEAL_BACKLOG} ago. The
   * first call for an entry remembers it, unless the queue has only near entries. Calls for other
   * queues have no effect until the remembered entry is taken; otherwise the entries of two queues
   * would replace each other.
   */
  boolean hasWaited(RunQueue observed, long now) {
    if (queue != null && queue != observed && !queue.isEmpty() && queue.headIndex() == index) return false;
    int oldest = observed.headIndex();
    if (observed.isEmpty()) return false; // read after the index, so the index is that of an entry
    boolean isRemembered = queue == observed && index == oldest;
    if (isRemembered && now - since < WakePolicy.STEAL_BACKLOG) return false;
    if (observed.hasOnlyNearEntries()) { // read last, because it reads memory of the other carrier
      queue = null;
      return false;
    }
    if (isRemembered) return true;
    queue = observed;
    index = oldest;
    since = now;
    return false;
  }
}
