package io.fibry.engine.queue;

import java.util.List;

/**
 * Who must go on for something that stands in a {@link SharedQueue}, or is being handled: among
 * these workers, so many that those who never go on hold no more than so many permits, and are not
 * more than so many. Made by the queue alone, for who looks for a ring.
 *
 * @param <E> what waits
 * @param slots where they sit; null: all
 * @param permits if those who never go on hold more than this, it never ends
 * @param workers likewise, if they are more than this
 */
public record Blockers<E>(List<WorkerSlot<E>> slots, int permits, int workers) {
  /**
   * Any of these, and be it one.
   *
   * @param slots where they sit
   */
  public Blockers(List<WorkerSlot<E>> slots) {
    this(slots, Integer.MAX_VALUE, 0);
  }
}
