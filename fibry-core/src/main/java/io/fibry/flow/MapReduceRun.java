package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.ChangedCopy;
import io.fibry.block.Throwables;
import io.fibry.spi.BlockBuilder;
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
import org.slf4j.LoggerFactory;

/**
 * One map-reduce. A worker takes an item, sends it to itself, maps it, folds the result, and takes
 * the next. A worker with its first item makes the next worker.
 *
 * <p>Taking and folding run user code, so each has a lock. No slow code runs under the monitor.
 */
final class MapReduceRun<T, R> {
  private static final Logger LOG = LoggerFactory.getLogger(MapReduce.class);
  // for unique names of workers
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final ActorBuilder<Object> builder;
  private final int parallel;
  private final Iterable<T> items;
  private final Handler.Returning<T, R> map;
  private final OrderedFold<R> fold; // guarded by `folding`
  private final CompletableFuture<R> result = new CompletableFuture<>();
  private final ReentrantLock taking = new ReentrantLock();
  private final ReentrantLock folding = new ReentrantLock();
  // null -> iterator under `taking`; iterator -> null by the thread that closes it
  private final AtomicReference<Iterator<T>> iterator = new AtomicReference<>();
  private boolean exhausted; // guarded by `taking`, as the next one
  private long taken;
  private long folded; // guarded by `folding`, as the next one
  private long total = -1; // -1 until it is known
  // Workers that have begun and not ended; guarded by the monitor, as the next one
  private final Set<MapWorker> working = new LinkedHashSet<>();
  private int made;
  private volatile boolean over; // false -> true, under the monitor

  MapReduceRun(ActorBuilder<?> builder, int parallel, Iterable<T> items, Handler.Returning<T, R> map,
      OrderedFold<R> fold) {
    this.builder = ChangedCopy.withOwnMessages(builder);
    this.parallel = parallel;
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
      if (over || made == parallel) return;
      made++;
    }
    var worker = new MapWorker();
    worker.actor.onExit().thenAccept(worker::ended);
    worker.actor.execute(worker::begin);
  }

  /** Runs on its actor, but for {@code ended}. */
  private final class MapWorker {
    private final ActorWithReturn<T, Boolean> actor =
        BlockBuilder.of(builder).child("worker-" + NUMBERS.incrementAndGet()).newActorWithReturn(this::handle);
    private long number; // of the item at hand; written before that is sent

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
      if (over) return false;
      var mapped = Objects.requireNonNull(map.handle(item), "map answered null; let it answer a result");
      try {
        settle(() -> {
          fold.add(number, mapped);
          folded++;
        });
        takeNext();
      } catch (Throwable failure) { // a retry would map again
        fail(this, failure);
      }
      return true;
    }

    private boolean takeNext() {
      T item = take(this);
      if (item == null) actor.sendPoisonPill();
      else send(item);
      return item != null;
    }

    /** Behind {@code allOf} the callback runs in place, not on a thread for each item. */
    private void send(T item) {
      CompletableFuture.allOf(actor.sendMessageReturn(item)).whenComplete((done, failure) -> {
        if (failure != null) fail(this, Throwables.unwrap(failure));
      });
    }

    /** Its item would be lost: no other worker takes it up. */
    private void ended(ExitReason reason) {
      leave(this);
      if (reason instanceof ExitReason.Failed failed) fail(this, failed.cause());
      else if (!(reason instanceof ExitReason.Finished)) fail(this, new CancellationException(
          "actor '" + actor.name() + "' of a map-reduce ended before its work did: " + reason));
    }
  }

  private synchronized boolean join(MapWorker worker) {
    return !over && working.add(worker);
  }

  private synchronized void leave(MapWorker worker) {
    working.remove(worker);
  }

  private T take(MapWorker worker) {
    T item = null;
    lock(taking);
    try {
      if (over) return null;
      var source = iterator.get();
      if (source == null)
        iterator.set(source = Objects.requireNonNull(items.iterator(), "the iterator of the items is null"));
      // ended before the iterator was set; this thread is interrupted
      if (over) runOnFiber(this::closeItems);
      else if (!exhausted && !(exhausted = !source.hasNext())) {
        item = Objects.requireNonNull(source.next(), "an item is null");
        worker.number = taken++;
      }
    } finally {
      taking.unlock();
    }
    if (item == null) settle(() -> total = taken);
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

  private void settle(Runnable step) {
    R value = null;
    lock(folding);
    try {
      if (over) return;
      step.run();
      if (folded == total) value = fold.value();
    } finally {
      folding.unlock();
    }
    if (value != null) complete(value);
  }

  private void complete(R value) {
    synchronized (this) {
      if (over) return;
      over = true; // no worker maps any more
    }
    runOnFiber(() -> {
      result.complete(value);
      closeItems();
    });
  }

  private void fail(MapWorker worker, Throwable failure) {
    if (!end(worker)) return;
    worker.actor.sendPoisonPill(); // no kill: its failure policy decides first
    runOnFiber(() -> { // chained stages must not run here
      result.completeExceptionally(failure);
      closeItems();
    });
  }

  private static void runOnFiber(Runnable code) {
    try {
      Strategy.FIBER.activate(code);
    } catch (Throwable noThread) {
      code.run(); // better here than never
    }
  }

  /** Kills all workers but {@code spared}. One that has not begun sees the end in {@code join}. */
  private boolean end(MapWorker spared) {
    List<MapWorker> others;
    synchronized (this) {
      if (over) return false;
      over = true;
      working.remove(spared);
      others = List.copyOf(working);
    }
    for (var other : others) other.actor.kill();
    return true;
  }

  /**
   * Closing a generator's iteration frees a worker that waits in it. Others are closed while no
   * worker is inside.
   */
  private void closeItems() {
    var open = iterator.getAndSet(null);
    if (!(open instanceof AutoCloseable closeable)) return;
    boolean alone = !(open instanceof Generator.Iteration<?>);
    if (alone) taking.lock();
    try {
      closeable.close();
    } catch (Throwable failure) {
      LOG.error("the items of a map-reduce could not be closed", failure);
    } finally {
      if (alone) taking.unlock();
    }
  }
}
