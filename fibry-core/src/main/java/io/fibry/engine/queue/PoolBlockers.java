package io.fibry.engine.queue;

import java.util.List;

/**
 * The workers on which a wait depends. A worker is stuck if its own wait cannot end; {@code
 * WaitCycle} finds the stuck workers. If they hold more than {@code maxStuckPermits} permits, or
 * are more than {@code maxStuckWorkers}, the wait never ends.
 *
 * @param slots the workers on which the wait depends, or null for all workers
 */
public record PoolBlockers<E>(List<WorkerSlot<E>> slots, int maxStuckPermits, int maxStuckWorkers) {
  /** For a wait that never ends if any of these workers is stuck. */
  public PoolBlockers(List<WorkerSlot<E>> slots) {
    this(slots, Integer.MAX_VALUE, 0);
  }
}
