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
  static final CompletableFuture<Void> STORED = CompletableFuture.completedFuture(null);

  /**
   * Messages that a turn, not stored yet, has done or sends again: the store still has their former
   * versions.
   */
  private record UnstoredTurn(CompletableFuture<Void> stored, Set<String> ids) {}

  private final PendingDelivery delivery;
  private final Store store;
  private final Store.ActorId id;
  private final Semaphore ahead; // given back by the store's thread
  private final ArrayDeque<UnstoredTurn> leaving = new ArrayDeque<>();
  private Set<String> reminders; // ids of all that are set
  private Set<String> aside; // the former ids of parked messages
  private Set<String> waited = Set.of(); // when it was read
  private long readAt; // by the clock of `Kept.since`
  private long life;
  private long number; // of the last turn
  private CompletableFuture<Void> last = STORED; // done when the last turn is stored, or refused
  private volatile boolean refused; // a turn of this life was not stored; written by the store's thread

  TurnPipeline(PendingDelivery delivery, Store.ActorId id, int ahead) {
    this.delivery = delivery;
    this.store = delivery.store();
    this.id = id;
    this.ahead = new Semaphore(ahead);
  }

  /** Begins a life: no turn of the one before is stored from now on. */
  Store.LoadedActor load() {
    var loaded = store.load(id);
    life = loaded.life();
    number = loaded.lastTurn();
    readAt = System.nanoTime();
    waited = Set.copyOf(loaded.pendingIds());
    reminders = new HashSet<>(waited);
    reminders.removeIf(one -> !Mail.isReminder(one));
    aside = new HashSet<>(0);
    waited.forEach(this::noteAside);
    leaving.clear(); // the store has waited for them
    last = STORED;
    refused = false;
    delivery.beginAnew(id.key(), loaded.pendingIds());
    return loaded;
  }

  /** Its actor has ended. */
  void leave() {
    store.endLife(id, life);
  }

  /** One was not stored, so that none behind it is; the actor reads its state again. */
  boolean areRefused() {
    return refused;
  }

  /** The number of the turn that is given next. */
  long next() {
    return number + 1;
  }

  Set<String> reminders() {
    return reminders;
  }

  private void noteAside(String waiting) {
    String before = Mail.before(waiting);
    if (!before.equals(waiting)) aside.add(before);
  }

  /** It may be tried again. */
  boolean isAside(String message) {
    return aside.contains(message);
  }

  /**
   * Otherwise it was handled, perhaps by another life. Messages that were stored since this one
   * began are its own.
   */
  boolean waits(StoredMessage<?> kept) {
    boolean certain = !kept.looked() && (kept.since() - readAt >= 0 || waited.contains(kept.id()));
    return certain || store.dueTime(id, kept.id()).equals(Optional.of(kept.due()));
  }

  /** A turn has handled it, or sent it again, that may still be refused. */
  boolean isLeaving(StoredMessage<?> kept) {
    forgetLeft();
    return leaving.stream().anyMatch(one -> one.ids.contains(kept.id()));
  }

  // ---- turns that are being stored

  /** If it throws, no part is stored. */
  void append(byte[] body, boolean whole, TurnOutbox outgoing) {
    append(body, whole, outgoing, store::append);
  }

  /** The actor ends, and views may still have to read the turns before. */
  void end(byte[] body, TurnOutbox outgoing) {
    append(body, true, outgoing, store::end);
  }

  private void append(byte[] body, boolean whole, TurnOutbox outgoing,
      Function<Store.Turn, CompletionStage<Void>> storing) {
    acquire();
    var turn = new Store.Turn(id, life, number + 1, delivery.now(), whole, body, outgoing.done(), outgoing.sends());
    CompletableFuture<Void> stored;
    try {
      stored = storing.apply(turn).toCompletableFuture();
    } catch (Throwable refusal) {
      ahead.release();
      if (!(refusal instanceof IllegalArgumentException)) refused = true; // the store may have it
      throw refusal;
    }
    number++;
    last = stored.whenComplete((none, failure) -> {
      ahead.release();
      if (failure != null) refuse(turn, cause(failure));
      else outgoing.handled().ifPresent(kept -> delivery.done(id.key(), kept.id(), kept.due()));
    });
    forgetLeft();
    if (!outgoing.isEmpty()) sent(turn, outgoing.own());
  }

  /**
   * The next turn is not given to the store, as if it had been refused there. Its asker hears of
   * that behind the turns before it. The store's thread may refuse one of those meanwhile: both set
   * `refused`, which only this thread clears, when it reads the actor again.
   */
  void refuse(StoreException why) {
    last = last.thenCompose(stored -> CompletableFuture.failedFuture(why));
    noteRefusal(next(), why);
  }

  private void acquire() {
    try {
      if (!ahead.tryAcquire()) ahead.acquire(); // an interrupt matters only while it waits
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(id + " was interrupted while it waited for earlier turns to be stored");
    }
  }

  private void sent(Store.Turn turn, Set<String> own) {
    if (!last.isDone()) leaving.add(new UnstoredTurn(last, Set.copyOf(own)));
    // when the turn is stored, and `leaving` is complete
    last.thenRun(() -> StoreRegistry.of(store).tell(turn.outbox()));
    for (var one : turn.handledIds()) {
      reminders.remove(one);
      aside.remove(Mail.before(one));
    }
    for (var one : turn.outbox()) if (one.to().equals(id)) {
      if (Mail.isReminder(one.id())) reminders.add(one.id());
      noteAside(one.id());
    }
  }

  private void forgetLeft() {
    while (!leaving.isEmpty() && leaving.peek().stored.isDone()) leaving.poll();
  }

  /** A refusal is noted here before an asker is told. */
  private void refuse(Store.Turn turn, StoreException why) {
    if (!refused && turn.life() == life) noteRefusal(turn.number(), why);
  }

  private void noteRefusal(long turn, StoreException why) {
    delivery.halt(id.key()); // before the actor handles another message
    refused = true;
    StoreRegistry.of(store).refusals().tell(id + " reads its state again, since its turn " + turn + " was not stored",
        why);
  }

  static StoreException cause(Throwable failure) {
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
      throw cause(refusal);
    }
  }

  /** @param body all that the turns so far have said */
  void snapshot(byte[] body) {
    store.snapshot(new Store.Turn(id, life, number, delivery.now(), true, body, List.of(), List.of()));
  }
}
