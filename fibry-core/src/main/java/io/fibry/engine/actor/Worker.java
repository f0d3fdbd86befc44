package io.fibry.engine.actor;

import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.queue.WorkerSlot;

/**
 * One worker of a pool: an actor that, when nothing of its own is left, goes on with what waits in
 * the pool's mailbox. Its own queue holds what only it is meant for: the message that woke it, a
 * restart, the pill. So its right to run is that of any actor, and nothing here is new to it: what
 * it takes from the pool are nodes it handles in between, while its own last node keeps the right.
 */
public final class Worker extends ActorCell {
  public final WorkerSlot<Object> seat;
  private final PoolCell pool;
  private final int number;
  private Object own; // the last node of its own queue that it came to; who has the right to run
  private boolean lent; // it is at a node of the pool's; likewise

  public Worker(Behaviour behaviour, PoolCell pool, WorkerSlot<Object> seat, int number) {
    super(behaviour);
    this.pool = pool;
    this.seat = seat;
    this.number = number;
    if (pool.label() != null) introduce(name(), null);
  }

  /** Gives it the message that its seat was served. Throws nothing, once entered. */
  public void begin(Object node) {
    push(node, node);
  }

  @Override
  public Object next(Activation activation, Object node) {
    if (!lent) own = node;
    pool.after(this);
    Object more = null;
    if (phase > OPEN || linked(own) != null) pool.finish(this, node);
    else more = pool.next(this, node);
    if (more == null) return nextOwn(activation);
    lent = true;
    return more;
  }

  /**
   * An idle one keeps nothing. Should it not come through, all is as before: it still has the right
   * to run.
   */
  private Object nextOwn(Activation activation) {
    Object last = own;
    boolean wasLent = lent;
    own = null;
    lent = false;
    try {
      return super.next(activation, last);
    } catch (Throwable edge) {
      own = last;
      lent = wasLent;
      throw edge;
    }
  }

  /**
   * Who sent the pill may have overtaken who was about to come with a message; he sends another one
   * behind it.
   */
  @Override
  public boolean mayLeave() {
    return phase > OPEN || !pool.awaits(this);
  }

  @Override
  public void resting(Object node) {
    pool.finish(this, node);
  }

  @Override
  public void gone() {
    pool.gone(this);
  }

  @Override
  public ActorCell front() {
    return pool;
  }

  @Override
  public String name() {
    return pool.name() + "/" + number;
  }
}
