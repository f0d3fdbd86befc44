package io.fibry.durable.turn;

import io.fibry.ContextPropagator.StepObservation;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoreRefusals;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.spi.StoreBackend;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Gives the turns of an actor to the store, one after the other. Each {@link #load} begins a new
 * life. Used by the actor's thread, except where a member says otherwise.
 */
final class TurnPipeline {
  static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  /**
   * A turn that is not stored yet, with the ids of the messages that it handles, sets or removes.
   * The store still has the previous versions of these messages.
   */
  private record UnstoredTurn(CompletableFuture<Void> storing, Set<String> messageIds) {}

  private final PendingDelivery delivery;
  private final StoreBackend store;
  private final Store.ActorId id;
  private final Semaphore unstoredPermits; // released by the store's thread
  // turns with messages that are not stored yet; null until the first of them. Many handlers may
  // sleep at the same time, and most have stored only steps
  private ArrayDeque<UnstoredTurn> unstoredTurns;
  // Both sets are `Set.of()` until they get their first element.
  private Set<String> reminders = Set.of(); // ids of all reminders that are set
  private Set<String> parked = Set.of(); // unique ids of messages that were parked, until they are handled
  private Set<String> pendingAtLoad = Set.of(); // ids of the messages that waited at the load
  private long loadedNanos; // when the load ended, by System.nanoTime; compared with StoredMessage.sentNanos
  private long life; // written by the actor's thread with the monitor of `delivery`
  private long lastNumber; // of the last turn
  private CompletableFuture<Void> lastStored = DONE; // done when the last turn is stored; fails if it is refused
  // a turn of this life was not stored; written by the actor's thread and by the store's thread,
  // which holds the monitor of `delivery`
  private volatile boolean isRefused;

  TurnPipeline(PendingDelivery delivery, Store.ActorId id, int maxUnstored) {
    this.delivery = delivery;
    this.store = delivery.store();
    this.id = id;
    this.unstoredPermits = new Semaphore(maxUnstored);
  }

  /** Begins a life: from now on no turn of an earlier life is stored. */
  StoreBackend.LoadedActor load() {
    var loaded = store.load(id);
    lastNumber = loaded.lastTurn();
    loadedNanos = System.nanoTime();
    pendingAtLoad = Set.copyOf(loaded.pendingIds());
    reminders = Set.of();
    parked = Set.of();
    for (var pendingId : pendingAtLoad) addPending(pendingId);
    unstoredTurns = null; // the store has stored or refused them
    lastStored = DONE;
    synchronized (delivery) { // in one step: a late refusal of an earlier life must not count for this life
      life = loaded.life();
      isRefused = false;
      delivery.restart(id.key(), loaded.pendingIds());
    }
    return loaded;
  }

  /** Tells the store that the actor has ended. */
  void endLife() {
    store.endLife(id, life);
  }

  /**
   * Returns whether a turn of this life was refused. Later turns of this life are refused, too, so
   * the actor must read its state again.
   */
  boolean isAnyRefused() {
    return isRefused;
  }

  /** Returns the number of the next turn. */
  long nextNumber() {
    return lastNumber + 1;
  }

  Set<String> reminders() {
    return reminders;
  }

  /** Records a pending message, if it is a reminder or parked. */
  private void addPending(String pendingId) {
    String originalId = Mail.originalId(pendingId);
    if (Mail.isReminder(pendingId)) reminders = with(reminders, pendingId);
    if (!originalId.equals(pendingId)) parked = with(parked, originalId);
  }

  /** Adds an element to a set, or to a new set if the set is empty, and returns the set. */
  private static Set<String> with(Set<String> ids, String id) {
    var extended = ids.isEmpty() ? new HashSet<String>(2) : ids;
    extended.add(id);
    return extended;
  }

  private static void remove(Set<String> ids, String id) {
    if (!ids.isEmpty()) ids.remove(id);
  }

  /** Returns whether the message was parked, and is not handled yet. */
  boolean isParked(String uniqueId) {
    return parked.contains(uniqueId);
  }

  /**
   * Returns whether the message still waits at the store. If not, it was handled, perhaps by
   * another life. The store need not be asked about messages that waited at the load of this life,
   * or were stored later: only this life can have handled them.
   */
  boolean isPending(StoredMessage<?> message) {
    boolean isCertain =
        !message.isReadFromStore() && (message.sentNanos() - loadedNanos >= 0 || pendingAtLoad.contains(message.id()));
    return isCertain || store.dueTime(id, message.id()).equals(Optional.of(message.due()));
  }

  /** Returns whether a turn that may still be refused has handled or replaced the message. */
  boolean isBeingHandled(StoredMessage<?> message) {
    removeStored();
    return unstoredTurns != null && unstoredTurns.stream().anyMatch(turn -> turn.messageIds.contains(message.id()));
  }

  // ---- turns that are being stored

  /** Gives the store a turn. After an IllegalArgumentException, no part of the turn is stored. */
  void append(byte[] body, boolean isFullState, TurnOutbox outbox) {
    append(body, isFullState, outbox, store::append);
  }

  /** Gives the store the turn that erases the actor. Views may still read the earlier turns. */
  void erase(byte[] body, TurnOutbox outbox) {
    append(body, true, outbox, store::end);
  }

  /**
   * Gives the store a turn. The observation of a commit ends on the thread that completes the
   * storing, before the asker gets its answer.
   */
  private void append(byte[] body, boolean isFullState, TurnOutbox outbox,
      Function<StoreBackend.Turn, CompletionStage<Void>> operation) {
    var observation = outbox.beginStoring();
    StoreBackend.Turn turn;
    CompletableFuture<Void> storing;
    try (observation) {
      acquire();
      turn = new StoreBackend.Turn(id, life, lastNumber + 1, delivery.now(), isFullState, body, outbox.handledIds(),
          outbox.messagesToSend());
      storing = store(turn, operation);
    } catch (Throwable refusal) {
      observation.ended("failed", Optional.of(refusal));
      throw refusal;
    }
    lastNumber++;
    lastStored = storing.whenComplete((result, failure) -> {
      unstoredPermits.release();
      observation.ended(failure == null ? "stored" : "failed",
          Optional.ofNullable(failure).map(StoreRefusals::causeOf));
      if (failure != null) onRefused(turn, StoreRefusals.causeOf(failure));
      else outbox.handled().ifPresent(message -> delivery.complete(id.key(), message.id(), message.due()));
    });
    removeStored();
    if (!outbox.isEmpty()) trackMessages(turn, outbox.ownIds());
  }

  private CompletableFuture<Void> store(StoreBackend.Turn turn,
      Function<StoreBackend.Turn, CompletionStage<Void>> operation) {
    try {
      return operation.apply(turn).toCompletableFuture();
    } catch (Throwable refusal) {
      unstoredPermits.release();
      if (!(refusal instanceof IllegalArgumentException)) isRefused = true; // the store may have the turn
      throw refusal;
    }
  }

  /**
   * Refuses the next turn without giving it to the store. Its asker gets the refusal after the
   * results of the earlier turns. The store's thread may refuse an earlier turn at the same time.
   * Both threads set `isRefused`; only the actor's thread clears it, when it loads the actor again.
   */
  void refuse(StoreException cause) {
    lastStored = lastStored.thenCompose(result -> CompletableFuture.failedFuture(cause));
    recordRefusal();
    logRefusal(nextNumber(), cause);
  }

  private void acquire() {
    try {
      // `acquire` throws in an interrupted thread, even if it need not wait
      if (!unstoredPermits.tryAcquire()) unstoredPermits.acquire();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(id + " was interrupted while it waited for earlier turns to be stored");
    }
  }

  private void trackMessages(StoreBackend.Turn turn, Set<String> ownIds) {
    if (!lastStored.isDone()) {
      if (unstoredTurns == null) unstoredTurns = new ArrayDeque<>(1);
      unstoredTurns.add(new UnstoredTurn(lastStored, Set.copyOf(ownIds)));
    }
    // runs when the turn is stored, and not before `unstoredTurns` has the turn
    lastStored.thenRun(() -> StoreRegistry.of(store).notifyStored(turn.outbox()));
    for (var handledId : turn.handledIds()) {
      remove(reminders, handledId);
      remove(parked, Mail.originalId(handledId));
    }
    for (var message : turn.outbox()) if (message.to().equals(id)) addPending(message.id());
  }

  private void removeStored() {
    if (unstoredTurns == null) return;
    while (!unstoredTurns.isEmpty() && unstoredTurns.peek().storing.isDone()) unstoredTurns.poll();
  }

  /** Records a refusal by the store, before the asker gets it. */
  private void onRefused(StoreBackend.Turn turn, StoreException cause) {
    synchronized (delivery) { // the actor's thread may begin another life
      if (isRefused || turn.life() != life) return;
      recordRefusal();
    }
    logRefusal(turn.number(), cause);
  }

  private void recordRefusal() {
    delivery.halt(id.key()); // before the actor handles another message
    isRefused = true;
  }

  private void logRefusal(long turn, StoreException cause) {
    StoreRegistry.of(store).failureLog().logRefusal(
        id + " reads its state again, because its turn " + turn + " was not stored",
        cause);
  }

  /** Returns a future that is done when all turns so far are stored; it fails if one is refused. */
  CompletableFuture<Void> lastStored() {
    return lastStored;
  }

  /**
   * Parks a fiber until the store has stored or refused the last turn, or the fiber is interrupted.
   * A fiber that once had a deep stack keeps this memory while it sleeps. So a handler's context
   * calls this method, which parks with few frames, before it calls {@link #awaitLast}. If the
   * fiber cannot register for the end of the turn, this method returns early, and
   * {@link #awaitLast} waits or throws.
   */
  void parkUntilLastStored() {
    var storing = lastStored;
    var waiter = Thread.currentThread();
    if (storing.isDone() || !waiter.isVirtual()) return;
    try {
      storing.whenComplete((result, failure) -> LockSupport.unpark(waiter));
    } catch (VirtualMachineError noSpace) { // an error here would leave the observation of the step open
      return;
    }
    while (!storing.isDone() && !waiter.isInterrupted()) LockSupport.park(storing);
  }

  /** Waits until all turns so far are stored. */
  void awaitLast() throws InterruptedException {
    parkUntilLastStored();
    var storing = lastStored;
    try {
      storing.get();
      lastStored = DONE; // so that a fiber that sleeps does not keep the future in memory
    } catch (ExecutionException refusal) {
      throw StoreRefusals.causeOf(refusal);
    }
  }

  /** Stores a snapshot, whose body has the full state after the turns so far. */
  void snapshot(byte[] body) {
    store.snapshot(new StoreBackend.Turn(id, life, lastNumber, delivery.now(), true, body, List.of(), List.of()));
  }
}
