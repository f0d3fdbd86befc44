package io.fibry.jdbc;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads the turns of a kind, page by page. It is woken by turns of this process. These show only
 * when no older transaction is running, and other processes store turns, too, so it looks again
 * after pauses that grow.
 */
final class TableHistory implements Store.History {
  private static final long FIRST_PAUSE = 5; // milliseconds

  private final TableStore store;
  private final String kind;
  private final long poll; // the longest pause
  private final Semaphore wakeUps = new Semaphore(0); // given by the thread that stores, and by those who close
  private volatile boolean closed;
  private TablePosition last; // of the turn that was answered last
  private Optional<Store.StoredTurn> lastTurn = Optional.empty(); // that turn
  private boolean isChecked; // its turns have places of this cluster

  TableHistory(TableStore store, String kind, long poll, TablePosition after) {
    this.store = store;
    this.kind = kind;
    this.poll = poll;
    this.last = after;
  }

  @Override
  public List<Store.StoredTurn> take() throws InterruptedException {
    for (long pause = FIRST_PAUSE;; pause *= 2) {
      wakeUps.drainPermits(); // later turns are told again
      var found = poll();
      if (!found.isEmpty()) return found;
      if (wakeUps.tryAcquire(Math.min(pause, poll), TimeUnit.MILLISECONDS)) pause = FIRST_PAUSE;
    }
  }

  @Override
  public List<Store.StoredTurn> poll() throws InterruptedException {
    if (closed) throw new StoreClosedException("the history of kind '" + kind + "' in " + store + " is closed");
    if (!isChecked) store.checkPlaces(kind);
    isChecked = true;
    var found = store.history(kind, last, lastTurn);
    if (found.isEmpty()) return found;
    lastTurn = Optional.of(found.getLast());
    last = TablePosition.of(found.getLast().offset(), kind);
    return found;
  }

  /** Called by any thread when there is more to read, or the history is closed. */
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
