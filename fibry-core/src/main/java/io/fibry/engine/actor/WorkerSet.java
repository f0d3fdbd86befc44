package io.fibry.engine.actor;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.HandlerContext;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.WorkerSlot;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/** The living workers of a pool, and the message counts of workers that have ended. Thread-safe. */
final class WorkerSet implements Iterable<Worker> {
  private final Set<Worker> workers =
      new ConcurrentSkipListSet<>((a, b) -> Integer.compare(a.number, b.number));
  // Message counts of workers that have ended; guarded by this. A worker is removed and its counts
  // are added under one monitor, so that each message counts once
  private long handledByEnded;
  private long failedByEnded;

  void add(Worker worker) {
    workers.add(worker);
  }

  synchronized void remove(Worker worker) {
    workers.remove(worker);
    handledByEnded += worker.handled();
    failedByEnded += worker.failed();
  }

  @Override
  public Iterator<Worker> iterator() {
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
    return workers.stream().map(worker -> worker.slot).toList();
  }

  long handled() {
    long countOfEnded;
    List<Worker> livingWorkers;
    synchronized (this) {
      countOfEnded = handledByEnded;
      livingWorkers = List.copyOf(workers);
    }
    // outside the monitor: a MultiStepMessage in progress is asked for its completed steps, which
    // is user code
    return countOfEnded + livingWorkers.stream().mapToLong(Cell::handled).sum();
  }

  synchronized long failed() {
    return failedByEnded + workers.stream().mapToLong(Cell::failed).sum();
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
