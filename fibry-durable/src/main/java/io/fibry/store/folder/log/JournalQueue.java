package io.fibry.store.folder.log;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A queue from many threads to one thread, which takes the entries.
 *
 * <p>No entry waits while the taking thread sleeps. A sender adds its entry and then reads
 * {@code isIdle}. The taking thread writes {@code isIdle} and then checks the queue. At least one
 * of the two thus sees what the other has written.
 *
 * <p>No entry is lost at the end. A sender adds its entry and then reads {@code hasEnded}. The
 * taking thread writes {@code hasEnded} and then takes the remaining entries. If both threads find
 * an entry, the queue gives it to only one of them.
 */
final class JournalQueue<E> {
  /** The action that a sender must take after it has added its entry. */
  enum SenderAction {
    NOTHING, WAKE, REFUSE
  }

  private final ConcurrentLinkedQueue<E> queue = new ConcurrentLinkedQueue<>();
  private volatile boolean isIdle; // written by the taking thread
  private volatile boolean isCloseRequested; // written by any thread
  private volatile boolean hasEnded; // written by the taking thread

  /**
   * Adds an entry. Returns {@code WAKE} if the sender must wake the taking thread, and
   * {@code REFUSE} if the entry was removed again because the queue has ended.
   */
  SenderAction add(E entry) {
    queue.add(entry);
    if (hasEnded && queue.remove(entry)) return SenderAction.REFUSE;
    return isIdle ? SenderAction.WAKE : SenderAction.NOTHING;
  }

  int size() {
    return queue.size();
  }

  /**
   * Asks the taking thread to end after it has taken the remaining entries. The caller must then
   * wake the taking thread.
   */
  void close() {
    isCloseRequested = true;
  }

  boolean isEnded() {
    return hasEnded;
  }

  // ---- for the taking thread

  boolean isClosing() {
    return isCloseRequested;
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

  /** Marks the taking thread as idle. Returns whether this thread may sleep until it is woken. */
  boolean tryIdle() {
    isIdle = true;
    return queue.isEmpty() && !isCloseRequested;
  }

  void resume() {
    isIdle = false;
  }

  /**
   * Refuses all entries that are added from now on. Entries that were added before can still be
   * taken.
   */
  void refuseNewEntries() {
    hasEnded = true;
  }
}
