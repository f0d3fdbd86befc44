package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.pubsub.Subscription;
import io.fibry.store.CopySummary;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.text.Lines;
import java.lang.ref.WeakReference;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The objects of this process for one store, kept by its deliveries, actors and readers. The store
 * does not, or actors that nobody has and that never ended would keep their store. Thread-safe.
 */
final class StoreRegistry {
  // Under its own monitor.
  private static final Map<Store, WeakReference<StoreRegistry>> REGISTRIES = new WeakHashMap<>();

  private final Map<Store.ActorId, ServedActor> actors = new ConcurrentHashMap<>();
  private final List<PendingDelivery> deliveries = new CopyOnWriteArrayList<>();
  private final List<Consumer<Store.ActorId>> unownedListeners = new CopyOnWriteArrayList<>();
  private final StoreFailureLog failureLog = new StoreFailureLog(System::nanoTime);

  private final ReentrantLock unparkLock = new ReentrantLock();

  private volatile boolean isChecked; // it was found to be; written by any thread

  private StoreRegistry() {}

  static StoreRegistry of(Store store) {
    Objects.requireNonNull(store, "store");
    synchronized (REGISTRIES) {
      var known = REGISTRIES.get(store);
      var home = known == null ? null : known.get();
      if (home != null) return home;
      var made = new StoreRegistry();
      REGISTRIES.put(store, new WeakReference<>(made));
      return made;
    }
  }

  /** It is no copy that was not finished, the actors of which would know too little. */
  static void checkComplete(Store store) {
    var home = of(store);
    if (home.isChecked) return;
    if (CopySummary.isUnfinishedIn(store)) throw new StoreDamagedException(
        store + " has a copy that was not finished, so it has no actors; empty it, and copy again");
    home.isChecked = true;
  }

  /** The place at which an actor is served. */
  private static final class ServedActor {
    private volatile Actor<?> actor; // null: it is made now

    /** It may have been cut off, and what it closes may not be closed yet. */
    boolean isVacant() {
      var made = actor;
      return made != null && made.onExit().isDone();
    }
  }

  /** Two actors of one key would end each other's lives. */
  static <M> Actor<M> registerActor(Store store, Store.ActorId id, Supplier<Actor<M>> maker) {
    var home = of(store);
    var place = new ServedActor();
    if (home.actors.merge(id, place, (before, mine) -> before.isVacant() ? mine : before) != place)
      throw new IllegalStateException(takenMessage(id, store));
    boolean made = false;
    try {
      var actor = maker.get().closeOnExit(() -> home.actors.remove(id, place)); // and keeps the home
      place.actor = actor;
      made = true;
      return actor;
    } finally {
      if (!made) home.actors.remove(id, place);
    }
  }

  /** Refuses if an actor here has the key. */
  static void checkFree(Store store, Store.ActorId id) {
    var place = of(store).actors.get(id);
    if (place != null && !place.isVacant()) throw new IllegalStateException(takenMessage(id, store));
  }

  private static String takenMessage(Store.ActorId id, Store store) {
    return id.kind().equals(Store.VIEWS) ? "view '" + id.key() + "' has an actor at " + store
        + "; close that one first, or give this view another name"
        : id + " has an actor at " + store + "; send to that one, or let entities make it";
  }

  /** A parked message is due from now on. One call at a time, so no message is retried twice. */
  void unpark(Store store, Store.ActorId actor, String id, UnaryOperator<Mail> change) {
    Objects.requireNonNull(id, "id");
    unparkLock.lock();
    try {
      var found = store.pending(actor, Store.PendingMessage.NEVER, Integer.MAX_VALUE).stream()
          .filter(one -> one.id().equals(id) && Mail.isParked(one)).findFirst()
          .orElseThrow(() -> new IllegalStateException(
              "'" + Lines.line(id) + "' of " + actor + " is not aside any more at " + store
                  + ": it was retried, or removed"));
      var due = new Store.PendingMessage(actor, id, Store.PendingMessage.ALWAYS,
          change.apply(Mail.read(found.body())).bytes());
      store.enqueue(due, Integer.MAX_VALUE).toCompletableFuture().get();
      notifyStored(List.of(due));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while '" + Lines.line(id) + "' of " + actor + " was taken back");
    } catch (ExecutionException refused) {
      throw TurnPipeline.refusalCause(refused);
    } finally {
      unparkLock.unlock();
    }
  }

  StoreFailureLog failureLog() {
    return failureLog;
  }

  void add(PendingDelivery delivery) {
    deliveries.add(delivery);
  }

  void remove(PendingDelivery delivery) {
    deliveries.remove(delivery);
  }

  /** Messages wait at the store. A message waits on if no actor of its kind is served here. */
  void notifyStored(List<Store.PendingMessage> messages) {
    for (var one : messages)
      if (!notifyStored(one.to(), one.due())) for (var each : unownedListeners) each.accept(one.to());
  }

  /** Returns false if the actor is not served here. */
  boolean notifyStored(Store.ActorId actor, Instant due) {
    boolean served = false;
    for (var each : deliveries) if (each.serves(actor)) {
      each.onMessageStored(actor.key(), due);
      served = true;
    }
    return served;
  }

  /** Follows messages for actors that are not served here. */
  Subscription onUnownedMessage(Consumer<Store.ActorId> reader) {
    unownedListeners.add(reader);
    return () -> unownedListeners.remove(reader);
  }
}
