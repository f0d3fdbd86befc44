package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One map-reduce. A worker takes an item and sends it to itself; having mapped it, it folds the
 * result, takes the next and sends that. Who has got its first item makes the next worker: so there
 * is at most one more than items.
 *
 * <p>Taking and folding have a lock each, since they run code of the user. What the monitor of this
 * object guards is done at once.
 */
final class MapReduceRun<T, R> {
  private static final Logger LOG = LoggerFactory.getLogger(MapReduce.class);
  // of workers: one builder may make those of two at a time, and names are unique
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final ActorBuilder<Object> how;
  private final int parallel;
  private final Iterable<T> items;
  private final Handler.Returning<T, R> map;
  private final OrderedFold<R> fold; // guarded by `folding`
  private final CompletableFuture<R> result = new CompletableFuture<>();
  private final ReentrantLock taking = new ReentrantLock();
  private final ReentrantLock folding = new ReentrantLock();
  // set under `taking`, by the first who asks for an item; emptied by who closes it
  private final AtomicReference<Iterator<T>> iterator = new AtomicReference<>();
  private boolean exhausted; // guarded by `taking`, as the next one
  private long taken;
  private long folded; // guarded by `folding`, as the next one
  private long all = -1; // how many items there are; -1: not known yet
  // begun, and not ended; guarded by the monitor, as the next one
  private final Set<Worker> working = new HashSet<>();
  private int made;
  private volatile boolean over; // false -> true, under the monitor

  // whatever it was narrowed to: only its mailbox would mind, and one item at a time waits in it
  @SuppressWarnings("unchecked")
  MapReduceRun(ActorBuilder<?> how, int parallel, Iterable<T> items, Handler.Returning<T, R> map, OrderedFold<R> fold) {
    this.how = ((ActorBuilder<Object>) how).mailbox(Mailbox.unbounded());
    this.parallel = parallel;
    this.items = items;
    this.map = map;
    this.fold = fold;
  }

  CompletableFuture<R> start() {
    employ();
    result.whenComplete((value, failure) -> { // by the user, or it is over already
      if (end(null)) Strategy.FIBER.activate(this::closeItems);
    });
    return result;
  }

  /** One worker more, unless there are enough. */
  private void employ() {
    synchronized (this) {
      if (over || made == parallel) return;
      made++;
    }
    var worker = new Worker();
    worker.actor.onExit().thenAccept(worker::ended);
    worker.actor.execute(worker::begin);
  }

  /** Its methods run in the turns of its actor, but the last one. */
  private final class Worker {
    private final ActorWithReturn<T, Boolean> actor =
        how.part("worker-" + NUMBERS.incrementAndGet()).newActorWithReturn(this::handle);
    private long number; // of the item at hand; written before that is sent

    private void begin() {
      if (!join(this)) {
        actor.sendPoisonPill();
        return;
      }
      try {
        if (takeNext()) employ();
      } catch (Throwable failure) {
        fail(this, failure);
      }
    }

    private boolean handle(T item) throws Exception {
      if (over) return false;
      var mapped = Objects.requireNonNull(map.handle(item), "what map answered");
      try {
        fold(number, mapped);
        takeNext();
      } catch (Throwable failure) { // no failure of this message: it is not to be mapped again
        fail(this, failure);
      }
      return true;
    }

    /** False: there is none. */
    private boolean takeNext() {
      T item = take(this);
      if (item == null) actor.sendPoisonPill();
      else send(item);
      return item != null;
    }

    /**
     * What stands behind {@code allOf} is run in place, where a callback of its own would cost a
     * thread for each item. It does nothing that takes time.
     */
    private void send(T item) {
      CompletableFuture.allOf(actor.sendMessageReturn(item)).whenComplete((done, failure) -> {
        if (failure != null) fail(this, failure instanceof CompletionException wrapped ? wrapped.getCause() : failure);
      });
    }

    /** Whatever ends it early is told: nobody else would take up its work. */
    private void ended(ExitReason reason) {
      leave(this);
      if (reason instanceof ExitReason.Failed failed) fail(this, failed.cause());
      else if (!(reason instanceof ExitReason.Finished)) fail(this, new CancellationException(
          "actor '" + actor.name() + "' of a map-reduce ended before its work did: " + reason));
    }
  }

  private synchronized boolean join(Worker worker) {
    return !over && working.add(worker);
  }

  private synchronized void leave(Worker worker) {
    working.remove(worker);
  }

  // ---- an item

  /** Null: there is none. */
  private T take(Worker worker) {
    T item = null;
    lock(taking);
    try {
      if (over) return null;
      var source = iterator.get();
      if (source == null) iterator.set(source = Objects.requireNonNull(items.iterator(), "the iterator of the items"));
      // who ended it may have found nothing to close; this thread he has interrupted
      if (over) Strategy.FIBER.activate(this::closeItems);
      else if (!exhausted && !(exhausted = !source.hasNext())) {
        item = Objects.requireNonNull(source.next(), "an item");
        worker.number = taken++;
      }
    } finally {
      taking.unlock();
    }
    if (item == null) settle(() -> all = taken); // which changes no more
    return item;
  }

  private void fold(long number, R mapped) {
    settle(() -> {
      fold.add(number, mapped);
      folded++;
    });
  }

  private static void lock(ReentrantLock lock) {
    try {
      lock.lockInterruptibly();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("an actor of a map-reduce was interrupted while it waited for another one of it");
    }
  }

  /** Who takes the last step completes the future. */
  private void settle(Runnable step) {
    R value = null;
    lock(folding);
    try {
      if (over) return;
      step.run();
      if (folded == all) value = fold.value();
    } finally {
      folding.unlock();
    }
    if (value != null) complete(value);
  }

  // ---- the end

  private void complete(R value) {
    synchronized (this) {
      if (over) return;
      over = true; // nobody is at work: those who still look for an item find none
    }
    Strategy.FIBER.activate(() -> {
      result.complete(value);
      closeItems();
    });
  }

  private void fail(Worker worker, Throwable failure) {
    if (!end(worker)) return;
    worker.actor.sendPoisonPill(); // its failure policy has its say first
    Strategy.FIBER.activate(() -> { // what is chained to the future is not this actor's work
      result.completeExceptionally(failure);
      closeItems();
    });
  }

  /**
   * Kills those at work but this one; false if it is over already. One that has not begun will see
   * that, and end.
   */
  private boolean end(Worker but) {
    List<Worker> others;
    synchronized (this) {
      if (over) return false;
      over = true;
      working.remove(but);
      others = List.copyOf(working);
    }
    for (var other : others) other.actor.kill();
    return true;
  }

  /**
   * A generator's iteration may be closed by any thread, and lets go of who waits in it; for others
   * nobody is inside.
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
