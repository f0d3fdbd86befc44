package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.queue.WorkerSlot;

/**
 * A worker of a pool: an actor that takes messages from the pool's queue when its own queue is
 * empty. The worker's own queue has the message with which the pool woke the worker, restart
 * requests, and the pill. The worker needs the last node of its own queue to release its right to
 * run. So it keeps that node while it handles nodes of the pool's queue.
 */
final class Worker extends PoolWorker {
  final WorkerSlot<Object> slot;
  private Object ownNode; // the last node of the worker's own queue that the drain reached; used by the drain only
  private boolean isAtPoolNode; // whether the drain is at a node of the pool's queue; used by the drain only

  Worker(ActorBehavior behavior, PoolCell pool, WorkerSlot<Object> slot, int number) {
    super(behavior, pool, number);
    this.slot = slot;
  }

  @Override
  WorkerSlot<Object> slot() {
    return slot;
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
   * Releases the right to run, and forgets the worker's nodes, which an idle worker would keep in
   * memory. Returns false if the worker keeps the right, because a sender added a node.
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
      // awaitNext reads ownNode; if awaitNext throws, a later drain continues at the current node,
      // and next must know to which queue this node belongs
      if (!isReleased) {
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
   * Returns false if the pill came before the message in the slot. The pool sends another pill
   * after it has delivered that message.
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
  protected void forgetEnded() {
    pool.removeWorker(this);
  }
}
