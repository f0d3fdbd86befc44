package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.queue.WorkerSlot;

/** An actor that handles messages of a pool, and has the pool's name and counts. */
abstract class PoolWorker extends ActorCell {
  final PoolCell pool;
  private final int number; // counts the workers of the pool, from 1

  PoolWorker(ActorBehavior behavior, PoolCell pool, int number) {
    super(behavior);
    this.pool = pool;
    this.number = number;
    if (pool.label() != null) setIdentity(name(), null); // the label becomes the name of the worker's thread
  }

  /** Returns a slot with this worker, for the search for cycles of waits. */
  abstract WorkerSlot<Object> slot();

  /**
   * Gives the worker a message. If this method throws, the worker has not got the message.
   */
  final void deliver(Object node) {
    push(node, node);
  }

  @Override
  protected final void addToOwnCounts(int handled, int failed) {
    pool.addToCounts(handled, failed);
  }

  @Override
  public final Cell publicCell() {
    return pool;
  }

  @Override
  public final String name() {
    return pool.name() + "/" + number;
  }

  /** Cheaper than an identity hash, and the same in each run of a simulation. */
  @Override
  public final int hashCode() {
    return number;
  }

  @Override
  public final boolean equals(Object other) {
    return this == other;
  }
}
