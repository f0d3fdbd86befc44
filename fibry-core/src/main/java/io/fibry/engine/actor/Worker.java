package io.fibry.engine.actor;

import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.queue.WorkerSlot;

/**
 * One worker of a pool: an actor that, when its own queue is empty, goes on with what waits in the
 * pool's mailbox. Its own queue holds what only it is meant for: the message that woke it, a restart,
 * the pill. So its right to run is that of any actor: while it handles nodes of the pool, its own last
 * node keeps the right.
 */
final class Worker extends ActorCell {
  final WorkerSlot<Object> slot;
  private final PoolCell pool;
  private final int number;
  private Object own; // the last node of its own queue that it reached; drain only
  private boolean atPoolNode; // the node being handled is the pool's; drain only

  Worker(Behaviour behaviour, PoolCell pool, WorkerSlot<Object> slot, int number) {
    super(behaviour);
    this.pool = pool;
    this.slot = slot;
    this.number = number;
    if (pool.label() != null) introduce(name(), null);
  }

  /** Gives it the message that its slot was served. Throws nothing once entered. */
  void take(Object node) {
    push(node, node);
  }

  @Override
  protected Object next(Object node, boolean lingers) {
    if (!atPoolNode) own = node;
    pool.handled(this);
    if (isEnding() || linked(own) != null) pool.finish(this, node);
    else {
      Object next = pool.next(this, node);
      if (next != null) {
        atPoolNode = true;
        return next;
      }
    }
    Object next = super.next(own, lingers);
    if (next != null) backToOwn();
    return next;
  }

  /** An idle worker keeps nothing. If this fails, it still holds the right to run, and all is as before. */
  @Override
  protected boolean release(Object node) {
    Object last = own;
    boolean before = atPoolNode;
    backToOwn();
    try {
      if (super.release(last)) return true;
      own = last;
      return false;
    } catch (Throwable edge) {
      own = last;
      atPoolNode = before;
      throw edge;
    }
  }

  @Override
  protected Object awaitNext(Object node) {
    Object next = super.awaitNext(own);
    backToOwn();
    return next;
  }

  private void backToOwn() {
    own = null;
    atPoolNode = false;
  }

  /** The pill may have overtaken a message on its way to it; another pill follows that message. */
  @Override
  protected boolean mayEnd() {
    return isEnding() || slot.item() == null;
  }

  @Override
  protected Object beforeSuspension(Object node, boolean handled) {
    pool.finish(this, handled ? node : null);
    return node;
  }

  @Override
  protected void gone() {
    pool.gone(this);
  }

  @Override
  public Cell front() {
    return pool;
  }

  @Override
  public String name() {
    return pool.name() + "/" + number;
  }
}
