package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.queue.WorkerSlot;

/**
 * A worker of a pool: an actor that takes messages from the pool's queue when its own queue is
 * empty. Its own queue has the message that woke it, restart requests, and the pill. While it
 * handles nodes of the pool's queue, the last node of its own queue keeps its right to run.
 */
final class Worker extends ActorCell {
  final WorkerSlot<Object> slot;
  private final PoolCell pool;
  final int number;
  private Object ownNode; // the last node that the drain reached in the worker's own queue; drain only
  private boolean isAtPoolNode; // whether the drain is at a node of the pool's queue; drain only

  Worker(ActorBehavior behavior, PoolCell pool, WorkerSlot<Object> slot, int number) {
    super(behavior);
    this.pool = pool;
    this.slot = slot;
    this.number = number;
    if (pool.label() != null) setIdentity(name(), null);
  }

  /** Begins to handle the message of its slot. Throws nothing once it has been entered. */
  void take(Object node) {
    push(node, node);
  }

  @Override
  protected Object next(Object node, boolean maySpin) {
    if (!isAtPoolNode) ownNode = node;
    pool.dropStateIfPerMessage(this);
    if (isEnding() || nextLink(ownNode) != null) pool.finish(this, node);
    else {
      Object nextNode = pool.next(this, node);
      if (nextNode != null) {
        isAtPoolNode = true;
        return nextNode;
      }
    }
    Object nextNode = super.next(ownNode, maySpin);
    if (nextNode != null) returnToOwnQueue();
    return nextNode;
  }

  /**
   * Releases the right to run, and the nodes of the worker, which would stay in memory while it is
   * idle. Returns false if the worker keeps the right.
   */
  @Override
  protected boolean release(Object node) {
    Object lastOwnNode = ownNode;
    boolean wasAtPoolNode = isAtPoolNode;
    boolean isReleased = false;
    returnToOwnQueue();
    try {
      return isReleased = super.release(lastOwnNode);
    } finally {
      if (!isReleased) { // awaitNext needs it; if awaitNext throws, the drain is still at a node of the pool
        ownNode = lastOwnNode;
        isAtPoolNode = wasAtPoolNode;
      }
    }
  }

  @Override
  protected Object awaitNext(Object node) {
    Object nextNode = super.awaitNext(ownNode);
    returnToOwnQueue();
    return nextNode;
  }

  private void returnToOwnQueue() {
    ownNode = null;
    isAtPoolNode = false;
  }

  /**
   * Returns false at a pill that overtook the message in the slot; another pill follows that
   * message.
   */
  @Override
  protected boolean isReadyToEnd() {
    return isEnding() || slot.item() == null;
  }

  @Override
  protected Object beforeSuspension(Object node, boolean isHandled) {
    pool.finish(this, isHandled ? node : null);
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
