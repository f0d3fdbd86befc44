package io.fibry.store.folder;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A queue from many threads to one.
 *
 * <p>No entry is missed: its sender adds it and then reads {@code isIdle}; the taking thread
 * writes {@code isIdle} and then looks into the queue. No entry is lost at the end: its sender
 * adds it and then reads {@code hasEnded}; the taking thread writes {@code hasEnded} and then takes the
 * rest. An entry that both find goes to one of them, by the queue.
 */
final class JournalQueue<E> {
  /** The next act of an entry's sender. */
  enum SenderAction {
    NOTHING, WAKE, REFUSE
  }

  private final ConcurrentLinkedQueue<E> queue = new ConcurrentLinkedQueue<>();
  private volatile boolean isIdle; // written by the taking thread
  private volatile boolean closeRequested; // written by any
  private volatile boolean hasEnded; // written by the taking thread

  /** {@code REFUSE}: it will not be taken. */
  SenderAction add(E entry) {
    queue.add(entry);
    if (hasEnded && queue.remove(entry)) return SenderAction.REFUSE;
    return isIdle ? SenderAction.WAKE : SenderAction.NOTHING;
  }

  int size() {
    return queue.size();
  }

  /** The taking thread need not come again once it has taken the present entries; wake it. */
  void close() {
    closeRequested = true;
  }

  boolean isEnded() {
    return hasEnded;
  }

  // ---- for the taking thread

  boolean isClosing() {
    return closeRequested;
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

  /** Returns true if the thread may rest until it is woken. */
  boolean tryRest() {
    isIdle = true;
    return queue.isEmpty() && !closeRequested;
  }

  void resume() {
    isIdle = false;
  }

  /**
   * Entries that are added from now on are refused. Entries that were added before can still be
   * taken.
   */
  void refuseNewEntries() {
    hasEnded = true;
  }
}
