package io.fibry.engine.queue;

import java.util.List;

/**
 * The workers on which a wait depends. The wait never ends if the stuck workers hold more than
 * {@code permits} permits, or are more than {@code workers}.
 *
 * @param slots the workers on which the wait depends, or null for all workers
 */
public record PoolBlockers<E>(List<WorkerSlot<E>> slots, int permits, int workers) {
  /** Makes the blockers of a wait that never ends if any of these workers is stuck. */
  public PoolBlockers(List<WorkerSlot<E>> slots) {
    this(slots, Integer.MAX_VALUE, 0);
  }
}
