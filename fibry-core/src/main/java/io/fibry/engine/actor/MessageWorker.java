package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.WorkerSlot;

/**
 * A worker of a {@link PerMessagePool}, for one message. The worker leaves its pool when it has
 * handled the message, and releases its right to run. It does not go through the end of an actor,
 * except if it gets a pill, as when it fails or its pool ends.
 */
final class MessageWorker extends PoolWorker {
  // The node of the message; null once the message was handled. Written before other threads know
  // the worker, then by its drain
  private Object messageNode;

  MessageWorker(ActorBehavior behavior, PoolCell pool, int number, Object messageNode) {
    super(behavior, pool, number);
    this.messageNode = messageNode;
  }

  @Override
  WorkerSlot<Object> slot() {
    return WorkerSlot.of(this);
  }

  /** Returns whether the message is being handled, or has to be. Called by observers. */
  boolean isBusy() {
    return messageNode != null && !isIdle();
  }

  @Override
  protected Object next(Object node, boolean maySpin) {
    if (node == messageNode) {
      messageNode = null;
      if (node instanceof RequestFuture<?> request) request.entry = null;
      if (hasState) dropState("after its one message");
    }
    return super.next(node, false);
  }

  /**
   * Leaves the pool, unless the message has not come yet: a request to restart may have woken this
   * worker before.
   */
  @Override
  protected boolean release(Object node) {
    // read first, because after the release another drain may run. A worker that is being killed
    // leaves at its end, after the dead-letter listener has been called
    boolean isDone = messageNode == null && !isEnding();
    if (!super.release(node)) return false;
    if (isDone) pool.removeWorker(this);
    return true;
  }

  @Override
  protected Object beforeSuspension(Object node, boolean isHandled) {
    if (isHandled) messageNode = null;
    return node;
  }

  @Override
  protected void forgetEnded() {
    pool.removeWorker(this);
  }

  /** Returns the pool, because a worker with a budget of its own would never exceed it. */
  @Override
  protected Cell budgetOwner() {
    return pool;
  }
}
