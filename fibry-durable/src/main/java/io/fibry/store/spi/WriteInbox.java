package io.fibry.store.spi;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A queue of entries from many threads to the one thread of a store that writes them.
 *
 * <p><b>Capacity.</b> A semaphore bounds the bytes of pending entries. A sender acquires the bytes
 * of its entry before it adds the entry. So the sender waits if the store is slow. The writing
 * thread releases the bytes when the entry is stored or refused.
 *
 * <p>No entry waits while the writing thread sleeps. A sender adds its entry and then reads
 * {@code isIdle}. The writing thread writes {@code isIdle} and then checks the queue. At least one
 * of the two thus sees what the other has written.
 *
 * <p>No entry is lost at the end. A sender adds its entry and then reads {@code hasEnded}. The
 * writing thread writes {@code hasEnded} and then takes the remaining entries. If both threads find
 * an entry, the queue gives it to only one of them.
 *
 * @param <E> the type of the entries
 */
@SuppressWarnings("exports") // users need no module with nullness annotations
public final class WriteInbox<E> {
  private static final int MIN_PENDING_BYTES = 4096;

  /** The action that a sender must take after it has added its entry. */
  enum SenderAction {
    NOTHING, WAKE, REFUSE
  }

  private final Thread thread; // the writing thread
  private final ToIntFunction<? super E> sizeOf;
  private final int maxPendingBytes;
  private final Semaphore byteBudget; // has a permit for each byte that may still be added
  private final ConcurrentLinkedQueue<E> queue = new ConcurrentLinkedQueue<>();
  private volatile boolean isIdle; // written by the writing thread
  private volatile boolean isCloseRequested; // written by any thread
  private volatile boolean hasEnded; // written by the writing thread

  /**
   * Checks the option of a store that says how many bytes may be pending.
   *
   * @param bytes the value of the option
   * @throws IllegalArgumentException if the value is below 4 KiB
   */
  public static void checkMaxPendingBytes(int bytes) {
    if (bytes < MIN_PENDING_BYTES) throw new IllegalArgumentException(
        "max pending bytes of " + bytes + " are too few for a store; give " + MIN_PENDING_BYTES + " or more");
  }

  /**
   * Makes an empty inbox.
   *
   * @param thread the writing thread
   * @param maxPendingBytes the maximum number of bytes of pending entries; then senders wait
   * @param sizeOf returns the number of bytes of an entry, always the same
   */
  public WriteInbox(Thread thread, int maxPendingBytes, ToIntFunction<? super E> sizeOf) {
    this.thread = thread;
    this.sizeOf = sizeOf;
    this.maxPendingBytes = maxPendingBytes;
    this.byteBudget = new Semaphore(maxPendingBytes, true);
  }

  /**
   * Adds an entry, and wakes the writing thread if it sleeps. Waits for capacity.
   *
   * @param entry the entry
   * @return false if the writing thread has ended, so that the caller must refuse the entry
   * @throws InterruptedException if interrupted while it waits for capacity
   */
  public boolean add(E entry) throws InterruptedException {
    int size = sizeOf.applyAsInt(entry);
    // `acquire` throws if the sender is interrupted, so it is called only if the sender must wait.
    // `tryAcquire` may overtake waiting senders, so it is called only if no sender waits.
    if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(size)) byteBudget.acquire(size);
    boolean isAdded = false;
    try {
      queue.add(entry);
      isAdded = true; // from here on the writing thread releases the bytes, also if this thread fails
    } finally {
      if (!isAdded) byteBudget.release(size);
    }
    var action = actionAfterAdd(entry);
    if (action == SenderAction.WAKE) LockSupport.unpark(thread);
    if (action == SenderAction.REFUSE) byteBudget.release(size);
    return action != SenderAction.REFUSE;
  }

  SenderAction offer(E entry) {
    queue.add(entry);
    return actionAfterAdd(entry);
  }

  private SenderAction actionAfterAdd(E entry) {
    if (hasEnded && queue.remove(entry)) return SenderAction.REFUSE;
    return isIdle ? SenderAction.WAKE : SenderAction.NOTHING;
  }

  /**
   * Returns whether each entry that was added before this call is stored or refused. A sender
   * acquires the bytes of its entry before it adds the entry, and they are released after the entry
   * is stored or refused. So the semaphore has all its permits only if no entry is pending.
   *
   * @return false if an entry may be pending
   */
  public boolean isSettled() {
    return byteBudget.availablePermits() == maxPendingBytes;
  }

  /** {@return the number of entries that were not taken} */
  public int size() {
    return queue.size();
  }

  /**
   * Asks the writing thread to end after it has taken the remaining entries, and waits until it has
   * ended.
   */
  public void close() {
    isCloseRequested = true;
    LockSupport.unpark(thread);
    boolean wasInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException interrupt) {
        wasInterrupted = true;
      }
    }
    if (wasInterrupted) Thread.currentThread().interrupt();
  }

  /** {@return whether the inbox is closed, so that the writing thread must end} */
  public boolean isClosing() {
    return isCloseRequested;
  }

  /** {@return whether new entries are refused} */
  public boolean isEnded() {
    return hasEnded;
  }

  // ---- for the writing thread

  /** {@return the first entry, which stays in the inbox; null if there is none} */
  public @Nullable E peek() {
    return queue.peek();
  }

  /** {@return the first entry, which leaves the inbox; null if there is none} */
  public @Nullable E poll() {
    return queue.poll();
  }

  /** {@return whether there are no entries} */
  public boolean isEmpty() {
    return queue.isEmpty();
  }

  /**
   * Releases the bytes of an entry that was taken. Called when the entry is stored or refused.
   *
   * @param entry the entry
   */
  public void release(E entry) {
    byteBudget.release(sizeOf.applyAsInt(entry));
  }

  /**
   * Marks the writing thread as idle.
   *
   * @return whether this thread may sleep until it is woken
   */
  public boolean tryIdle() {
    isIdle = true;
    return queue.isEmpty() && !isCloseRequested;
  }

  /** Marks the writing thread as active after {@link #tryIdle}. */
  public void resume() {
    isIdle = false;
  }

  /**
   * Refuses all entries that are added from now on. Entries that were added before can still be
   * taken.
   */
  public void refuseNewEntries() {
    hasEnded = true;
  }
}
