package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.ChangedCopy;
import io.fibry.block.Throwables;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/**
 * One map-reduce. A worker takes an item, sends it to itself, maps it, folds the result, and takes
 * the next item. A worker that has got its first item makes another worker, up to
 * {@code maxParallel} workers.
 *
 * <p>User code runs while an item is taken, and while a result is folded. Therefore taking and
 * folding have one lock each, and neither happens under the monitor.
 */
final class MapReduceRun<T, R> {
  private static final Logger LOG = SafeLogger.of(MapReduce.class);
  // makes the names of workers unique
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final ActorBuilder<Object> builder;
  private final int maxParallel;
  private final Iterable<T> items;
  private final Handler.Returning<T, R> map;
  private final OrderedFold<R> fold; // guarded by `foldLock`
  private final CompletableFuture<R> result = new CompletableFuture<>();
  private final ReentrantLock itemsLock = new ReentrantLock();
  private final ReentrantLock foldLock = new ReentrantLock();
  // null -> iterator under `itemsLock`; iterator -> null by the thread that closes it
  private final AtomicReference<Iterator<T>> iterator = new AtomicReference<>();
  private boolean isExhausted; // guarded by `itemsLock`, like the next field
  private long takenItems;
  private long foldedResults; // guarded by `foldLock`, like the next field
  private long totalItems = -1; // number of all items; -1 until it is known
  // workers that have begun and not ended; guarded by the monitor, like the next field
  private final Set<MapWorker> activeWorkers = new LinkedHashSet<>();
  private int workerCount;
  private volatile boolean isOver; // false -> true, under the monitor

  MapReduceRun(ActorBuilder<?> builder, int maxParallel, Iterable<T> items, Handler.Returning<T, R> map,
      OrderedFold<R> fold) {
    this.builder = ChangedCopy.forBlockMessages(builder);
    this.maxParallel = maxParallel;
    this.items = items;
    this.map = map;
    this.fold = fold;
  }

  CompletableFuture<R> start() {
    addWorker();
    result.whenComplete((value, failure) -> {
      if (end(null)) runOnFiber(this::closeItems);
    });
    return result;
  }

  private void addWorker() {
    synchronized (this) {
      if (isOver || workerCount == maxParallel) return;
      workerCount++;
    }
    var worker = new MapWorker();
    worker.actor.onExit().thenAccept(worker::onEnd);
    worker.actor.execute(worker::begin);
  }

  /** A worker. All its methods run on its actor, except {@code onEnd}. */
  private final class MapWorker {
    private final ActorWithReturn<T, Boolean> actor =
        BlockBuilder.of(builder).child("worker-" + NUMBERS.incrementAndGet()).newActorWithReturn(this::handle);
    private long itemNumber; // number of the current item; written before the item is sent

    private void begin() {
      if (!join(this)) {
        actor.sendPoisonPill();
        return;
      }
      try {
        if (takeNext()) addWorker();
      } catch (Throwable failure) {
        fail(this, failure);
      }
    }

    private boolean handle(T item) throws Exception {
      if (isOver) return false;
      var mappedValue = Objects.requireNonNull(map.handle(item), "map answered null; let it answer a result");
      try {
        updateFold(() -> {
          fold.add(itemNumber, mappedValue);
          foldedResults++;
        });
        takeNext();
      } catch (Throwable failure) { // caught here, because a retry would map the item again
        fail(this, failure);
      }
      return true;
    }

    private boolean takeNext() {
      T item = takeItem(this);
      if (item == null) actor.sendPoisonPill();
      else send(item);
      return item != null;
    }

    /**
     * Sends the item to the worker's own actor. Code that is chained directly to the future of a
     * request does not run on the actor's thread, so it would need another thread for each item.
     * Code that is chained to {@code allOf} runs on the thread that completes the future.
     */
    private void send(T item) {
      CompletableFuture.allOf(actor.sendMessageReturn(item)).whenComplete((done, failure) -> {
        if (failure != null) fail(this, Throwables.unwrap(failure));
      });
    }

    /**
     * Called when the actor has ended. If the actor ended before its work was done, the run fails,
     * because no other worker would take over its item.
     */
    private void onEnd(ExitReason reason) {
      leave(this);
      if (reason instanceof ExitReason.Failed failed) fail(this, failed.cause());
      else if (!(reason instanceof ExitReason.Finished)) fail(this, new CancellationException(
          "actor '" + actor.name() + "' of a map-reduce ended before its work did: " + reason));
    }
  }

  private synchronized boolean join(MapWorker worker) {
    return !isOver && activeWorkers.add(worker);
  }

  private synchronized void leave(MapWorker worker) {
    activeWorkers.remove(worker);
  }

  /** Returns the next item, or null if there are no more items or the run has ended. */
  private T takeItem(MapWorker worker) {
    T item = null;
    lock(itemsLock);
    try {
      if (isOver) return null;
      var source = iterator.get();
      if (source == null)
        iterator.set(source = Objects.requireNonNull(items.iterator(), "the iterator of the items is null"));
      // the run ended before the iterator was set, so the end did not close the iterator; a fiber
      // does that, because this thread is interrupted
      if (isOver) runOnFiber(this::closeItems);
      else if (!isExhausted && !(isExhausted = !source.hasNext())) {
        item = Objects.requireNonNull(source.next(), "an item is null");
        worker.itemNumber = takenItems++;
      }
    } finally {
      itemsLock.unlock();
    }
    if (item == null) updateFold(() -> totalItems = takenItems);
    return item;
  }

  private static void lock(ReentrantLock lock) {
    try {
      lock.lockInterruptibly();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("a worker of a map-reduce was interrupted while it waited for another worker");
    }
  }

  private void updateFold(Runnable update) {
    R value = null;
    lock(foldLock);
    try {
      if (isOver) return;
      update.run();
      if (foldedResults == totalItems) value = fold.value();
    } finally {
      foldLock.unlock();
    }
    if (value != null) complete(value);
  }

  private void complete(R value) {
    synchronized (this) {
      if (isOver) return;
      isOver = true; // from now on no worker begins to map an item
    }
    runOnFiber(() -> {
      result.complete(value);
      closeItems();
    });
  }

  private void fail(MapWorker worker, Throwable failure) {
    if (!end(worker)) return;
    worker.actor.sendPoisonPill(); // not killed, because the worker's failure policy must decide first
    runOnFiber(() -> { // stages chained to the future must not run on this thread
      result.completeExceptionally(failure);
      closeItems();
    });
  }

  private static void runOnFiber(Runnable code) {
    try {
      Strategy.FIBER.activate(code);
    } catch (Throwable startFailure) {
      code.run(); // no thread could be started
    }
  }

  /**
   * Ends the run, and kills all active workers except {@code spared}, which may be null. A worker
   * that has not begun sees the end in {@code join}. Returns false if the run had already ended.
   */
  private boolean end(MapWorker spared) {
    List<MapWorker> workersToKill;
    synchronized (this) {
      if (isOver) return false;
      isOver = true;
      activeWorkers.remove(spared);
      workersToKill = List.copyOf(activeWorkers);
    }
    for (var worker : workersToKill) worker.actor.kill();
    return true;
  }

  /**
   * Closes the iterator if it can be closed. The iteration of a generator is closed at once, so
   * that a worker that waits in it continues. Any other iterator is closed only while no worker
   * uses it.
   */
  private void closeItems() {
    var openIterator = iterator.getAndSet(null);
    if (!(openIterator instanceof AutoCloseable closeable)) return;
    boolean needsLock = !(openIterator instanceof Generator.Iteration<?>);
    if (needsLock) itemsLock.lock();
    try {
      closeable.close();
    } catch (Throwable failure) {
      LOG.error("the items of a map-reduce could not be closed", failure);
    } finally {
      if (needsLock) itemsLock.unlock();
    }
  }
}
