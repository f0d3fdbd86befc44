package io.fibry.engine.queue;

/** Where a worker of a {@link SharedQueue} takes its messages. Guarded by the queue. */
public final class WorkerSlot<E> {
  PoolEntry<E> held; // the message that the worker handles or was given, or null
  E item; // read also by the thread that was served
  // permits held; read also by a thread that saw the worker waiting
  private int weight;
  boolean idle;
  long idleSince; // perhaps IdleWorkers.UNKNOWN
  boolean retired; // takes no more
  // when it was served, more was ready; read also by the thread served
  boolean ready;
  private volatile Object worker; // null until it is made; written once, by its maker

  WorkerSlot() {}

  void hold(PoolEntry<E> entry) {
    held = entry;
    item = entry.item;
    weight = entry.weight;
    entry.slot = this;
  }

  void release() {
    held.slot = null;
    held = null;
    item = null;
    weight = 0;
  }

  /** Returns null until the worker is made. */
  public Object worker() {
    return worker;
  }

  public void take(Object worker) {
    this.worker = worker;
  }

  public E item() {
    return item;
  }

  public int weight() {
    return weight;
  }

  public boolean isReady() {
    return ready;
  }
}
