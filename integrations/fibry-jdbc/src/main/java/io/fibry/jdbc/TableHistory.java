package io.fibry.jdbc;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads the turns of a kind, page by page. A reader that waits is woken when this process has
 * stored turns. It also polls, with pauses that grow, because other processes store turns, too, and
 * because turns are visible only when no older transaction runs.
 */
final class TableHistory implements Store.History {
  private static final long FIRST_PAUSE_MILLIS = 5;

  private final TableStore store;
  private final String kind;
  private final long maxPauseMillis;
  private final Semaphore wakeUps = new Semaphore(0); // released by the writing thread and by close()
  private volatile boolean closed;
  private TableOffset lastOffset; // of the turn that was returned last; before the first turn, the start offset
  private boolean isChecked; // a check found no turns of another database cluster

  TableHistory(TableStore store, String kind, long maxPauseMillis, TableOffset startOffset) {
    this.store = store;
    this.kind = kind;
    this.maxPauseMillis = maxPauseMillis;
    this.lastOffset = startOffset;
  }

  @Override
  public List<Store.StoredTurn> take() throws InterruptedException {
    for (long pauseMillis = FIRST_PAUSE_MILLIS;; pauseMillis *= 2) {
      wakeUps.drainPermits(); // turns that are stored from now on give a permit again
      var turns = poll();
      if (!turns.isEmpty()) return turns;
      if (wakeUps.tryAcquire(Math.min(pauseMillis, maxPauseMillis), TimeUnit.MILLISECONDS))
        pauseMillis = FIRST_PAUSE_MILLIS;
    }
  }

  @Override
  public List<Store.StoredTurn> poll() throws InterruptedException {
    if (closed) throw new StoreClosedException("the history of kind '" + kind + "' in " + store + " is closed");
    if (!isChecked) store.checkPositions(kind);
    isChecked = true;
    var turns = store.history(kind, lastOffset);
    if (!turns.isEmpty()) lastOffset = TableOffset.of(turns.getLast().offset(), kind);
    return turns;
  }

  /** Wakes the reader. Called by any thread when turns were stored, or the history is closed. */
  void wake() {
    if (wakeUps.availablePermits() == 0) wakeUps.release();
  }

  @Override
  public void close() {
    closed = true;
    store.removeHistory(this);
    wake();
  }
}
