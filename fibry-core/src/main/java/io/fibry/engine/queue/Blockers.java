package io.fibry.engine.queue;

import java.util.List;

/**
 * The workers on which a wait depends. It never ends if those that are stuck hold more than
 * {@code permits}, or are more than {@code workers}.
 *
 * @param slots of these workers; null: all
 */
public record Blockers<E>(List<WorkerSlot<E>> slots, int permits, int workers) {
  /** A wait that never ends if any of these is stuck. */
  public Blockers(List<WorkerSlot<E>> slots) {
    this(slots, Integer.MAX_VALUE, 0);
  }
}
