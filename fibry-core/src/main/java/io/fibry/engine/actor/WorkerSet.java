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

/** The living workers of a pool, and counts of the others. Thread-safe. */
final class WorkerSet implements Iterable<Worker> {
  private final Set<Worker> workers =
      new ConcurrentSkipListSet<>((one, other) -> Integer.compare(one.number, other.number));
  // messages of workers that have ended, added under the monitor when a worker ends, so that each
  // message counts once
  private long handled;
  private long failed;

  void add(Worker worker) {
    workers.add(worker);
  }

  synchronized void remove(Worker worker) {
    workers.remove(worker);
    handled += worker.handled();
    failed += worker.failed();
  }

  @Override
  public Iterator<Worker> iterator() {
    return workers.iterator();
  }

  List<Cell> withPool(Cell pool) {
    var all = new ArrayList<Cell>(workers);
    all.add(pool);
    return all;
  }

  int size() {
    return workers.size();
  }

  List<WorkerSlot<Object>> slots() {
    return workers.stream().map(worker -> worker.slot).toList();
  }

  long handled() {
    long gone;
    List<Worker> living;
    synchronized (this) {
      gone = handled;
      living = List.copyOf(workers);
    }
    return gone + living.stream().mapToLong(Cell::handled).sum(); // calls code of users: without the monitor
  }

  synchronized long failed() {
    return failed + workers.stream().mapToLong(Cell::failed).sum();
  }

  /** The drain that handles this request, else any busy one. Null: none. */
  HandlerContext drainOn(RequestFuture<?> request) {
    HandlerContext busy = null;
    for (var worker : workers) {
      var drain = worker.worker();
      if (drain != null && drain.handles(request)) return drain;
      if (drain != null && drain.message != null) busy = drain;
    }
    return busy;
  }
}
