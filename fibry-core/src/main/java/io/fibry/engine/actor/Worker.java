package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.queue.WorkerSlot;

/**
 * An actor that takes messages from its pool's queue when its own queue is empty. Its own holds the
 * message that woke it, restarts, the pill. While it handles nodes of the pool, the last node of
 * its own queue keeps its right to run.
 */
final class Worker extends ActorCell {
  final WorkerSlot<Object> slot;
  private final PoolCell pool;
  final int number;
  private Object ownNode; // the last node it reached in its own queue; drain only
  private boolean atPoolNode; // at a node of the pool; drain only

  Worker(ActorBehavior behavior, PoolCell pool, WorkerSlot<Object> slot, int number) {
    super(behavior);
    this.pool = pool;
    this.slot = slot;
    this.number = number;
    if (pool.label() != null) setIdentity(name(), null);
  }

  /** Takes the message of its slot. Throws nothing once entered. */
  void take(Object node) {
    push(node, node);
  }

  @Override
  protected Object next(Object node, boolean lingers) {
    if (!atPoolNode) ownNode = node;
    pool.countHandled(this);
    if (isEnding() || linked(ownNode) != null) pool.finish(this, node);
    else {
      Object next = pool.next(this, node);
      if (next != null) {
        atPoolNode = true;
        return next;
      }
    }
    Object next = super.next(ownNode, lingers);
    if (next != null) returnToOwnQueue();
    return next;
  }

  /** An idle worker keeps no node. The worker keeps the right to run unless this returns true. */
  @Override
  protected boolean release(Object node) {
    Object last = ownNode;
    boolean before = atPoolNode;
    boolean released = false;
    returnToOwnQueue();
    try {
      return released = super.release(last);
    } finally {
      if (!released) { // where awaitNext fails, its node is still one of the pool
        ownNode = last;
        atPoolNode = before;
      }
    }
  }

  @Override
  protected Object awaitNext(Object node) {
    Object next = super.awaitNext(ownNode);
    returnToOwnQueue();
    return next;
  }

  private void returnToOwnQueue() {
    ownNode = null;
    atPoolNode = false;
  }

  /** A pill that overtook a message does not count; another follows the message. */
  @Override
  protected boolean isReadyToEnd() {
    return isEnding() || slot.item() == null;
  }

  @Override
  protected Object beforeSuspension(Object node, boolean handled) {
    pool.finish(this, handled ? node : null);
    return node;
  }

  @Override
  protected void threadExited() {
    pool.workerExited(this);
  }

  @Override
  public Cell publicCell() {
    return pool;
  }

  @Override
  public String name() {
    return pool.name() + "/" + number;
  }
}
