package io.fibry.engine.actor;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.HandlerContext;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.WorkerSlot;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The living workers of a pool, and the message counts of all its workers. Thread-safe. */
final class WorkerSet implements Iterable<PoolWorker> {
  private final Set<PoolWorker> workers = ConcurrentHashMap.newKeySet();
  private final LongAdder handled = new LongAdder();
  private final LongAdder failed = new LongAdder();

  void add(PoolWorker worker) {
    workers.add(worker);
  }

  void remove(PoolWorker worker) {
    workers.remove(worker);
  }

  /**
   * Returns whether the set has no worker. Searches for a worker, because the size of a
   * ConcurrentHashMap may be 0 for a moment while other threads add and remove workers.
   */
  boolean isEmpty() {
    return !workers.iterator().hasNext();
  }

  @Override
  public Iterator<PoolWorker> iterator() {
    return workers.iterator();
  }

  List<Cell> withPool(Cell pool) {
    var cells = new ArrayList<Cell>(workers);
    cells.add(pool);
    return cells;
  }

  int size() {
    return workers.size();
  }

  List<WorkerSlot<Object>> slots() {
    return workers.stream().map(PoolWorker::slot).toList();
  }

  void addToCounts(int newlyHandled, int newlyFailed) {
    if (newlyHandled > 0) handled.add(newlyHandled);
    if (newlyFailed > 0) failed.add(newlyFailed);
  }

  /** Includes the completed steps of each MultiStepMessage in progress. */
  long handled() {
    return handled.sum() + workers.stream().mapToLong(Cell::handled).sum();
  }

  long failed() {
    return failed.sum();
  }

  /**
   * Returns the drain that handles this request. If no drain handles it, returns any drain that
   * handles a message, or null if no worker handles a message.
   */
  HandlerContext drainFor(RequestFuture<?> request) {
    HandlerContext busyDrain = null;
    for (var worker : workers) {
      var drain = worker.drain();
      if (drain != null && drain.handles(request)) return drain;
      if (drain != null && drain.message != null) busyDrain = drain;
    }
    return busyDrain;
  }
}
