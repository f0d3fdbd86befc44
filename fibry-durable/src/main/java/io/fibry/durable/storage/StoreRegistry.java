package io.fibry.durable.storage;

import io.fibry.Actor;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import java.lang.ref.WeakReference;
import java.time.Instant;
import java.util.HashMap;
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
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The actors and deliveries of this process at one store. The actors and deliveries refer to the
 * registry, but the store does not. Otherwise the store would keep actors in memory that are
 * unreachable and have never ended. Thread-safe.
 */
public final class StoreRegistry {
  /** Delivers the messages of a kind's actors in this process. */
  public interface Delivery {
    /**
     * Delivers a message when it is due.
     *
     * @return false if this delivery does not serve the actor
     */
    boolean deliver(Store.ActorId actor, Instant due);
  }

  // Guarded by its own monitor.
  private static final Map<Store, WeakReference<StoreRegistry>> REGISTRIES = new WeakHashMap<>();

  private final Map<Store.ActorId, ServedActor> actors = new ConcurrentHashMap<>();
  private final List<Delivery> deliveries = new CopyOnWriteArrayList<>();
  private final List<Consumer<Store.ActorId>> unownedListeners = new CopyOnWriteArrayList<>();
  private final StoreFailureLog failureLog = new StoreFailureLog(System::nanoTime);

  private final ReentrantLock unparkLock = new ReentrantLock();

  private volatile boolean isChecked; // a check found no unfinished copy in the store; written by any thread

  private StoreRegistry() {}

  public static StoreRegistry of(Store store) {
    Objects.requireNonNull(store, "store");
    synchronized (REGISTRIES) {
      var reference = REGISTRIES.get(store);
      var registry = reference == null ? null : reference.get();
      if (registry != null) return registry;
      var created = new StoreRegistry();
      REGISTRIES.put(store, new WeakReference<>(created));
      return created;
    }
  }

  /** Throws if the store is an unfinished copy, because data of its actors is missing. */
  public static void checkComplete(Store store) {
    var registry = of(store);
    if (registry.isChecked) return;
    if (store.hasUnfinishedCopy()) throw new StoreDamagedException(
        store + " has a copy that was not finished, so it refuses actors; empty it, and copy again");
    registry.isChecked = true;
  }

  /** The entry of an actor that was made in this process. The end of the actor closes the entry. */
  private static final class ServedActor implements AutoCloseable {
    private final StoreRegistry registry; // while the actor lives, this keeps the registry in memory, too
    private final Store.ActorId id;
    private volatile Actor<?> actor; // null while the actor is being made

    ServedActor(StoreRegistry registry, Store.ActorId id) {
      this.registry = registry;
      this.id = id;
    }

    @Override
    public void close() {
      registry.actors.remove(id, this);
    }

    /** Returns whether the actor has ended. Its close hooks may not have removed this entry yet. */
    boolean hasEnded() {
      var current = actor;
      return current != null && current.onExit().isDone();
    }
  }

  /** Makes an actor. Throws if the key has an actor: two actors would end each other's lives. */
  public static <M> Actor<M> registerActor(Store store, Store.ActorId id, Supplier<Actor<M>> maker) {
    var registry = of(store);
    var entry = new ServedActor(registry, id);
    if (registry.actors.merge(id, entry, (old, added) -> old.hasEnded() ? added : old) != entry)
      throw new IllegalStateException(keyTakenText(id, store));
    boolean isMade = false;
    try {
      var actor = maker.get().closeOnExit(entry);
      entry.actor = actor;
      isMade = true;
      return actor;
    } finally {
      if (!isMade) entry.close();
    }
  }

  /** Throws if an actor of this process has the key. */
  public static void checkFree(Store store, Store.ActorId id) {
    var entry = of(store).actors.get(id);
    if (entry != null && !entry.hasEnded()) throw new IllegalStateException(keyTakenText(id, store));
  }

  private static String keyTakenText(Store.ActorId id, Store store) {
    return id.kind().equals(StoreBackend.VIEWS) ? "view '" + id.key() + "' has an actor at " + store
        + "; close that actor first, or give this view another name"
        : id + " has an actor at " + store + "; send to that actor, or let entities make it";
  }

  /** Makes a parked message due. Calls run one at a time, so that no message is retried twice. */
  public void unpark(Store store, Store.ActorId actor, String id, UnaryOperator<Mail> change) {
    Objects.requireNonNull(id, "id");
    var backend = StoreBackend.of(store);
    unparkLock.lock();
    try {
      var parked = backend.pending(actor, StoreBackend.PendingMessage.NEVER, Integer.MAX_VALUE).stream()
          .filter(message -> message.id().equals(id) && Mail.isParked(message)).findFirst()
          .orElseThrow(() -> new IllegalStateException(
              "'" + Lines.line(id) + "' of " + actor + " is no longer parked at " + store
                  + ": it was retried, or removed"));
      var unparked = new StoreBackend.PendingMessage(actor, id, StoreBackend.PendingMessage.ALWAYS,
          change.apply(Mail.read(parked.body())).bytes());
      backend.enqueue(unparked, Integer.MAX_VALUE).toCompletableFuture().get();
      notifyStored(List.of(unparked));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while '" + Lines.line(id) + "' of " + actor + " was unparked");
    } catch (ExecutionException refusal) {
      throw StoreRefusals.causeOf(refusal);
    } finally {
      unparkLock.unlock();
    }
  }

  public StoreFailureLog failureLog() {
    return failureLog;
  }

  public void add(Delivery delivery) {
    deliveries.add(delivery);
  }

  public void remove(Delivery delivery) {
    deliveries.remove(delivery);
  }

  /** Delivers stored messages. If no delivery serves an actor, the listeners get the actor. */
  public void notifyStored(List<StoreBackend.PendingMessage> messages) {
    for (var message : messages) if (!notifyStored(message.to(), message.due()))
      for (var listener : unownedListeners) listener.accept(message.to());
  }

  /** Delivers a stored message. Returns false if no delivery of this process serves the actor. */
  public boolean notifyStored(Store.ActorId actor, Instant due) {
    boolean isServed = false;
    for (var delivery : deliveries) isServed |= delivery.deliver(actor, due);
    return isServed;
  }

  /** Calls the listener with each actor that gets a message but has no delivery in this process. */
  public Subscription onUnownedMessage(Consumer<Store.ActorId> listener) {
    unownedListeners.add(listener);
    return () -> unownedListeners.remove(listener);
  }

  /**
   * Reads when the first waiting message of each actor is due. Messages that are never due do not
   * count. All due times are read before the first courier starts: early couriers would keep the
   * store busy, and delay the other reads.
   */
  public static Map<Store.ActorId, Instant> earliestDue(StoreBackend store, String kind,
      Predicate<Store.ActorId> isIncluded) {
    var earliest = new HashMap<Store.ActorId, Instant>();
    store.forEachPending(kind, (actor, due) -> {
      if (!due.equals(StoreBackend.PendingMessage.NEVER) && isIncluded.test(actor))
        earliest.merge(actor, due, (first, second) -> first.isBefore(second) ? first : second);
    });
    return earliest;
  }
}
