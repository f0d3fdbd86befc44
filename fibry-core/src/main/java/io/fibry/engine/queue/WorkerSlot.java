package io.fibry.engine.queue;

/**
 * The slot through which a worker of a {@link SharedQueue} gets its messages. Guarded by the
 * queue's monitor.
 */
public final class WorkerSlot<E> {
  PoolEntry<E> heldEntry; // the entry that the worker handles or will handle next; null if there is none
  E item; // the element of `heldEntry`, or null; read also by the caller of `assignNext`
  // number of the pool's permits that the message holds; read also by a thread that searches for
  // cycles
  private int weight;
  boolean isIdle;
  long idleSince; // nanoseconds, or IdleWorkers.UNKNOWN
  boolean isRetired; // whether the worker takes no more messages, because it must end
  // Set when the slot gets a message or becomes idle: whether another message can then begin, or
  // the pill is next. A thread that reads true calls `assignNext`
  boolean isMoreReady;
  private volatile Object worker; // null until the worker is made; written once, by its maker

  WorkerSlot() {}

  /** Makes the slot of a worker that gets its message without a queue. */
  public static <E> WorkerSlot<E> of(Object worker) {
    var slot = new WorkerSlot<E>();
    slot.worker = worker;
    return slot;
  }

  /** Makes the entry of a message that this slot's worker gets without a queue. */
  public QueueEntry<E> givenEntry() {
    var entry = new PoolEntry<E>(null, null, 1, null);
    entry.slot = this;
    entry.setGone();
    return entry;
  }

  void hold(PoolEntry<E> entry) {
    heldEntry = entry;
    item = entry.item;
    weight = entry.weight;
    entry.slot = this;
  }

  void release() {
    heldEntry.slot = null;
    heldEntry = null;
    item = null;
    weight = 0;
  }

  /** Returns null until the worker is made. */
  public Object worker() {
    return worker;
  }

  public void setWorker(Object worker) {
    this.worker = worker;
  }

  public E item() {
    return item;
  }

  public int weight() {
    return weight;
  }

  public boolean isMoreReady() {
    return isMoreReady;
  }
}
