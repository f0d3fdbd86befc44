package io.fibry.store.spi;

import io.fibry.store.StoreClosedException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A history whose reader waits for turns. A store wakes its open cursors when it has stored turns,
 * and when it is closed.
 *
 * <p>No turn is missed while the reader goes to sleep: it deletes all earlier wake-ups and then
 * reads. If a turn is stored after that read, the reader has a new wake-up.
 */
public abstract class HistoryCursor implements StoreBackend.History {
  private static final long FIRST_PAUSE_MILLIS = 5;

  private final String description;
  private final Collection<? extends HistoryCursor> openCursors;
  private final long maxPauseMillis; // 0 if the cursor does not poll
  private final Semaphore wakeUps = new Semaphore(0); // released by any thread
  private volatile boolean isClosed;

  /**
   * Makes a cursor for a store that no other process uses. Its reader waits until it is woken.
   *
   * @param description the history and its store, for exceptions
   * @param openCursors the open cursors of the store, from which {@link #close} removes this cursor
   */
  protected HistoryCursor(String description, Collection<? extends HistoryCursor> openCursors) {
    this(description, openCursors, Duration.ZERO);
  }

  /**
   * Makes a cursor whose reader also polls, with pauses that grow, because other processes store
   * turns, too.
   *
   * @param description the history and its store, for exceptions
   * @param openCursors the open cursors of the store, from which {@link #close} removes this cursor
   * @param maxPause the longest pause
   */
  protected HistoryCursor(String description, Collection<? extends HistoryCursor> openCursors, Duration maxPause) {
    this.description = description;
    this.openCursors = openCursors;
    this.maxPauseMillis = maxPause.toMillis();
  }

  @Override
  public final List<StoreBackend.StoredTurn> take() throws InterruptedException {
    for (long pauseMillis = FIRST_PAUSE_MILLIS;; pauseMillis *= 2) {
      pauseMillis = Math.min(pauseMillis, maxPauseMillis); // bounded here, so that it cannot overflow
      wakeUps.drainPermits();
      var turns = read();
      if (!turns.isEmpty()) return turns;
      if (maxPauseMillis == 0) wakeUps.acquire();
      else if (wakeUps.tryAcquire(pauseMillis, TimeUnit.MILLISECONDS))
        pauseMillis = FIRST_PAUSE_MILLIS;
    }
  }

  /**
   * Reads the next turns for {@link #take}. A store overrides this method if its {@link #poll} does
   * additional work, such as a sync.
   *
   * @return the next turns; empty if no more are stored
   * @throws InterruptedException if interrupted; the method can be called again
   */
  protected List<StoreBackend.StoredTurn> read() throws InterruptedException {
    return poll();
  }

  /** Throws an exception if this history is closed. */
  protected final void checkOpen() {
    if (isClosed()) throw new StoreClosedException(description + " is closed");
  }

  /** {@return whether this history is closed} */
  protected boolean isClosed() {
    return isClosed;
  }

  /** Lets the reader read again. Called when turns were stored, or the store is closed. */
  public final void wake() {
    if (wakeUps.availablePermits() == 0) wakeUps.release();
  }

  @Override
  public final void close() {
    isClosed = true;
    openCursors.remove(this);
    wake();
  }
}
