package io.fibry.store.folder;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What many threads give to one that takes it.
 *
 * <p>No entry is slept through: its sender adds it, then reads {@code resting}; the taking thread
 * writes {@code resting}, then looks into the queue. No entry is lost at the end: its sender adds
 * it, then reads {@code ended}; the taking thread writes {@code ended}, then takes what is left. An
 * entry that both find goes to one of them, by the queue.
 */
final class Inbox<E> {
  /** What the sender of an entry has to do. */
  enum Next {
    NOTHING, WAKE, REFUSE
  }

  private final ConcurrentLinkedQueue<E> queue = new ConcurrentLinkedQueue<>();
  private volatile boolean resting; // written by the taking thread
  private volatile boolean closing; // written by any
  private volatile boolean ended; // written by the taking thread

  /** {@code REFUSE}: it will not be taken. */
  Next add(E entry) {
    queue.add(entry);
    if (ended && queue.remove(entry)) return Next.REFUSE;
    return resting ? Next.WAKE : Next.NOTHING;
  }

  int size() {
    return queue.size();
  }

  /** The taking thread need not come again once it has taken what is there; wake it. */
  void close() {
    closing = true;
  }

  boolean isEnded() {
    return ended;
  }

  // ---- for the taking thread

  boolean isClosing() {
    return closing;
  }

  E peek() {
    return queue.peek();
  }

  E poll() {
    return queue.poll();
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** True: it may rest until it is woken. */
  boolean rest() {
    resting = true;
    return queue.isEmpty() && !closing;
  }

  void goOn() {
    resting = false;
  }

  /** What is added from now on is refused. What was added before is still there to be taken. */
  void end() {
    ended = true;
  }
}
