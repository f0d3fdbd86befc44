package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * The turns of an actor that are not stored yet, since it was last read. Used by the actor's
 * thread, except where a member says otherwise.
 */
final class TurnPipeline {
  static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  /**
   * Messages that a turn, not stored yet, has done or sends again: the store still has their former
   * versions.
   */
  private record UnstoredTurn(CompletableFuture<Void> stored, Set<String> ids) {}

  private final PendingDelivery delivery;
  private final Store store;
  private final Store.ActorId id;
  private final Semaphore unstoredPermits; // given back by the store's thread
  private final ArrayDeque<UnstoredTurn> unstoredTurns = new ArrayDeque<>();
  private Set<String> reminders; // ids of all that are set
  private Set<String> parked; // the former ids of parked messages
  private Set<String> pendingAtRead = Set.of(); // when it was read
  private long readAt; // by the clock of `Kept.since`
  private long life;
  private long number; // of the last turn
  private CompletableFuture<Void> last = DONE; // done when the last turn is stored, or refused
  private volatile boolean isRefused; // a turn of this life was not stored; written by the store's thread

  TurnPipeline(PendingDelivery delivery, Store.ActorId id, int ahead) {
    this.delivery = delivery;
    this.store = delivery.store();
    this.id = id;
    this.unstoredPermits = new Semaphore(ahead);
  }

  /** Begins a life: no turn of the one before is stored from now on. */
  Store.LoadedActor load() {
    var loaded = store.load(id);
    life = loaded.life();
    number = loaded.lastTurn();
    readAt = System.nanoTime();
    pendingAtRead = Set.copyOf(loaded.pendingIds());
    reminders = new HashSet<>(pendingAtRead);
    reminders.removeIf(one -> !Mail.isReminder(one));
    parked = new HashSet<>(0);
    pendingAtRead.forEach(this::addParked);
    unstoredTurns.clear(); // the store has waited for them
    last = DONE;
    isRefused = false;
    delivery.restart(id.key(), loaded.pendingIds());
    return loaded;
  }

  /** Its actor has ended. */
  void endLife() {
    store.endLife(id, life);
  }

  /** One was not stored, so that none behind it is; the actor reads its state again. */
  boolean isAnyRefused() {
    return isRefused;
  }

  /** The number of the turn that is given next. */
  long nextNumber() {
    return number + 1;
  }

  Set<String> reminders() {
    return reminders;
  }

  private void addParked(String waiting) {
    String before = Mail.originalId(waiting);
    if (!before.equals(waiting)) parked.add(before);
  }

  /** It may be tried again. */
  boolean isParked(String message) {
    return parked.contains(message);
  }

  /**
   * Otherwise it was handled, perhaps by another life. Messages that were stored since this one
   * began are its own.
   */
  boolean isPending(StoredMessage<?> kept) {
    boolean certain = !kept.isRead() && (kept.sentNanos() - readAt >= 0 || pendingAtRead.contains(kept.id()));
    return certain || store.dueTime(id, kept.id()).equals(Optional.of(kept.due()));
  }

  /** A turn has handled it, or sent it again, that may still be refused. */
  boolean isBeingHandled(StoredMessage<?> kept) {
    removeStored();
    return unstoredTurns.stream().anyMatch(one -> one.ids.contains(kept.id()));
  }

  // ---- turns that are being stored

  /** If it throws, no part is stored. */
  void append(byte[] body, boolean whole, TurnOutbox outgoing) {
    append(body, whole, outgoing, store::append);
  }

  /** The actor ends, and views may still have to read the turns before. */
  void erase(byte[] body, TurnOutbox outgoing) {
    append(body, true, outgoing, store::end);
  }

  private void append(byte[] body, boolean whole, TurnOutbox outgoing,
      Function<Store.Turn, CompletionStage<Void>> storing) {
    acquire();
    var turn = new Store.Turn(id, life, number + 1, delivery.now(), whole, body, outgoing.handledIds(),
        outgoing.messagesToSend());
    CompletableFuture<Void> stored;
    try {
      stored = storing.apply(turn).toCompletableFuture();
    } catch (Throwable refusal) {
      unstoredPermits.release();
      if (!(refusal instanceof IllegalArgumentException)) isRefused = true; // the store may have it
      throw refusal;
    }
    number++;
    last = stored.whenComplete((none, failure) -> {
      unstoredPermits.release();
      if (failure != null) refuse(turn, refusalCause(failure));
      else outgoing.handled().ifPresent(kept -> delivery.complete(id.key(), kept.id(), kept.due()));
    });
    removeStored();
    if (!outgoing.isEmpty()) onTurnSent(turn, outgoing.ownIds());
  }

  /**
   * The next turn is not given to the store, as if it had been refused there. Its asker hears of
   * that behind the turns before it. The store's thread may refuse one of those meanwhile: both set
   * `isRefused`, which only this thread clears, when it reads the actor again.
   */
  void refuse(StoreException why) {
    last = last.thenCompose(stored -> CompletableFuture.failedFuture(why));
    noteRefusal(nextNumber(), why);
  }

  private void acquire() {
    try {
      if (!unstoredPermits.tryAcquire()) unstoredPermits.acquire(); // an interrupt matters only while it waits
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(id + " was interrupted while it waited for earlier turns to be stored");
    }
  }

  private void onTurnSent(Store.Turn turn, Set<String> own) {
    if (!last.isDone()) unstoredTurns.add(new UnstoredTurn(last, Set.copyOf(own)));
    // when the turn is stored, and `unstoredTurns` is complete
    last.thenRun(() -> StoreRegistry.of(store).notifyStored(turn.outbox()));
    for (var one : turn.handledIds()) {
      reminders.remove(one);
      parked.remove(Mail.originalId(one));
    }
    for (var one : turn.outbox()) if (one.to().equals(id)) {
      if (Mail.isReminder(one.id())) reminders.add(one.id());
      addParked(one.id());
    }
  }

  private void removeStored() {
    while (!unstoredTurns.isEmpty() && unstoredTurns.peek().stored.isDone()) unstoredTurns.poll();
  }

  /** A refusal is noted here before an asker is told. */
  private void refuse(Store.Turn turn, StoreException why) {
    if (!isRefused && turn.life() == life) noteRefusal(turn.number(), why);
  }

  private void noteRefusal(long turn, StoreException why) {
    delivery.halt(id.key()); // before the actor handles another message
    isRefused = true;
    StoreRegistry.of(store).failureLog().logRefusal(
        id + " reads its state again, since its turn " + turn + " was not stored",
        why);
  }

  static StoreException refusalCause(Throwable failure) {
    var cause = failure instanceof CompletionException || failure instanceof ExecutionException ? failure.getCause()
        : failure;
    return cause instanceof StoreException known ? known : new StoreBusyException("the store failed", cause);
  }

  /** Done when all so far are stored, or one is refused. */
  CompletableFuture<Void> last() {
    return last;
  }

  /** Until all so far are stored. */
  void awaitLast() throws InterruptedException {
    try {
      last.get();
    } catch (ExecutionException refusal) {
      throw refusalCause(refusal);
    }
  }

  /** @param body all that the turns so far have said */
  void snapshot(byte[] body) {
    store.snapshot(new Store.Turn(id, life, number, delivery.now(), true, body, List.of(), List.of()));
  }
}
