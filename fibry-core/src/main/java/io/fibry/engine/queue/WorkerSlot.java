package io.fibry.engine.queue;

/**
 * Where a worker of a {@link SharedQueue} sits. Made by the queue alone.
 *
 * @param <E> what waits
 */
public final class WorkerSlot<E> {
  // what it is at, or was given and has not come to; null: nothing. Guarded by the queue
  PoolEntry<E> held;
  E item; // the same; guarded by the queue, but for who was just served
  // of that, in permits; 0: nothing. Written under the queue's monitor, read by who found its
  // worker waiting in a handler
  private int weight;
  boolean idle; // guarded by the queue
  long idleSince; // when it began to rest; guarded by the queue
  boolean idleSinceKnown; // that is known; guarded by the queue
  boolean retired; // it takes no more; guarded by the queue
  // there was more to begin, or the end was reached, when this one was served; written under the
  // monitor, read by who was served
  boolean ready;
  private volatile Object worker; // null: nobody sits here yet; written once, by who was told to

  WorkerSlot() {}

  void hold(PoolEntry<E> pooled) {
    held = pooled;
    item = pooled.item;
    weight = pooled.weight;
    pooled.slot = this;
  }

  void release() {
    held.slot = null;
    held = null;
    item = null;
    weight = 0;
  }

  /** {@return who sits here; null: nobody yet} */
  public Object worker() {
    return worker;
  }

  /**
   * Seats somebody.
   *
   * @param worker who sits here from now on
   */
  public void take(Object worker) {
    this.worker = worker;
  }

  /** {@return what is to be begun here; for who was just served} */
  public E item() {
    return item;
  }

  /** {@return how many permits its worker holds; for who found him waiting in a handler} */
  public int weight() {
    return weight;
  }

  /** {@return whether there is more to do than this; for who was just served} */
  public boolean ready() {
    return ready;
  }
}
