package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.codec.CodecException;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/**
 * Gives what waits at a store to the actors of a kind. Thread-safe.
 *
 * <p>A message is <i>in hand</i> from before its sender has stored it until its turn is stored: so
 * it is given once at a time. All others that are due are given by a courier, a fiber for each
 * actor, in the order in which they were stored. While there is one, senders leave their messages
 * to it, so that they overtake none.
 *
 * <p>The order is that of a queue beside the mailbox. The mailbox holds calls to handle all
 * messages up to a certain one. If calls were lost with an actor, the next call handles their
 * messages, too. A message that was begun comes first again when the state is read again.
 */
final class PendingDelivery implements AutoCloseable {
  private static final int MAX_BATCH = 64;
  private static final int MAX_BACKOFF_DOUBLINGS = 6; // the pauses double so often

  private final Store store;
  private final StoreRegistry registry;
  private final DefaultDurableBuilder<?> kind;
  final BlockBuilder<?> blockBuilder; // the clock, and texts
  // by key; this and all below under this object's monitor
  private final Map<String, KeyDelivery> deliveries = new HashMap<>();
  private final Set<String> attempted = new HashSet<>(); // of messages that waited when the process began
  private final DueTimes dueTimes;
  private Function<String, Actor<Object>> actors;
  private final Predicate<String> keys; // chooses the keys that this program owns
  private Instant startedAt = Instant.MIN; // messages that were due before have waited for this process
  private boolean closed;

  PendingDelivery(Store store, DefaultDurableBuilder<?> kind, BlockBuilder<?> blockBuilder, Predicate<String> keys) {
    this.store = store;
    this.registry = StoreRegistry.of(store);
    this.kind = kind;
    this.blockBuilder = blockBuilder;
    this.keys = keys;
    this.dueTimes = new DueTimes(this::now, blockBuilder.scheduler(), this::wakeCourier);
  }

  Store store() {
    return store;
  }

  /** Returns the time in the precision in which stores keep times. */
  Instant now() {
    return Instant.ofEpochMilli(store.clock().millis());
  }

  void sleepUntil(Instant time) throws InterruptedException {
    dueTimes.sleepUntil(time);
  }

  // ---- what waits

  /** Begins to give messages. */
  void start(Function<String, Actor<Object>> who) {
    synchronized (this) {
      if (closed) return;
      actors = who;
      startedAt = now();
      registry.add(this);
    }
    store.forEachPending(kind.name(), (id, due) -> {
      if (serves(id)) onMessageStored(id.key(), due);
    });
  }

  boolean serves(Store.ActorId id) {
    return id.kind().equals(kind.name()) && keys.test(id.key());
  }

  /** Called by any thread, also a thread of the store: a message waits for this actor. */
  void onMessageStored(String key, Instant due) {
    if (due.equals(Store.PendingMessage.NEVER)) return;
    if (due.isAfter(now())) dueTimes.add(key, due);
    else wakeCourier(key);
  }

  /** Whether it waited when the process began, and was not begun since. True once. */
  synchronized boolean isFirstAttemptAfterRestart(String key, StoredMessage<?> kept) {
    return kept.isRead() && !kept.sentAt().isAfter(startedAt) && attempted.add(kept.uniqueId() + " of " + key);
  }

  private KeyDelivery keyDelivery(String key) {
    return deliveries.computeIfAbsent(key, none -> new KeyDelivery());
  }

  synchronized void reserve(String key, String id) {
    keyDelivery(key).reserve(id);
  }

  /** Its store has it for certain not. */
  synchronized void unreserve(String key, String id) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null && keyDelivery.unreserve(id)) removeIfIdle(key, keyDelivery);
  }

  /** Called by the sender, after its message was stored. */
  void deliver(Actor<Object> actor, String key, StoredMessage<Object> kept) {
    if (tryEnqueue(key, kept)) call(actor, key, kept);
    else wakeCourier(key);
  }

  private synchronized boolean tryEnqueue(String key, StoredMessage<Object> kept) {
    var keyDelivery = keyDelivery(key);
    keyDelivery.unreserve(kept.id());
    return keyDelivery.tryAdd(kept);
  }

  /** Fails where there is no actor, such as by what the birth of an entity throws. */
  private CompletableFuture<Object> call(Actor<Object> actor, String key, StoredMessage<Object> kept) {
    CompletableFuture<Object> answer = null;
    try {
      answer = actor.sendMessageReturn(kept);
    } catch (RuntimeException unborn) {
      registry.failureLog().logRefusal("what waits for " + kind.id(key) + " could not be given to it", unborn);
      answer = CompletableFuture.failedFuture(unborn);
    } finally {
      if (answer == null) endCall(key);
    }
    return answer.whenComplete((done, failure) -> endCall(key));
  }

  private void endCall(String key) {
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      boolean expected = keyDelivery.endCall();
      removeIfIdle(key, keyDelivery);
      if (!expected) return;
    }
    wakeCourier(key);
  }

  /** Unless the message is done, it continues to wait, and a courier will give it. */
  void release(String key, String id) {
    synchronized (this) {
      var keyDelivery = deliveries.get(key);
      if (keyDelivery == null || !keyDelivery.unreserve(id)) return;
    }
    wakeCourier(key);
  }

  /** Done at once, or when a courier has given what it sees: no request overtakes that. */
  synchronized CompletableFuture<Void> orderBarrier(String key) {
    var order = new CompletableFuture<Void>();
    var keyDelivery = deliveries.get(key);
    return keyDelivery != null && keyDelivery.holdRequest(order) ? order : TurnPipeline.DONE;
  }

  /** Done when the requests to these have gone that wait for couriers now: then they may end. */
  synchronized CompletableFuture<Void> endBarrier(Predicate<String> which) {
    var ending =
        deliveries.entrySet().stream().filter(one -> which.test(one.getKey())).map(one -> one.getValue().holdEnd());
    return CompletableFuture.allOf(ending.toArray(CompletableFuture[]::new));
  }

  /** One after the other. Requests that come meanwhile wait for that, too. */
  private void releaseRequests(String key) {
    for (var freed = takeReleased(key, true); !freed.isEmpty(); freed = takeReleased(key, false))
      for (var request : freed) request.complete(null);
  }

  private synchronized List<CompletableFuture<Void>> takeReleased(String key, boolean first) {
    var keyDelivery = deliveries.get(key);
    return keyDelivery == null ? List.of() : keyDelivery.takeReleased(first);
  }

  // ---- the actor

  /**
   * The first of all up to the last. Returns an empty value if the messages are not to be handled
   * now.
   */
  synchronized Optional<StoredMessage<Object>> nextMessage(String key, StoredMessage<?> last,
      BooleanSupplier isCutOff) {
    var keyDelivery = deliveries.get(key);
    return keyDelivery == null || isCutOff.getAsBoolean() ? Optional.empty() : keyDelivery.nextAfter(last);
  }

  /** Its turn is stored, or it waits no more. */
  synchronized void complete(String key, String id, Instant due) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery == null) return;
    keyDelivery.complete(id, due);
    removeIfIdle(key, keyDelivery);
  }

  /** A message that was begun continues to wait; no message behind it may be handled before it. */
  synchronized void halt(String key) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null) keyDelivery.halt();
  }

  /** After the state was read, when those were waiting. No other life can do a turn any more. */
  synchronized void restart(String key, List<String> waiting) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null) keyDelivery.restart(waiting);
  }

  private void removeIfIdle(String key, KeyDelivery keyDelivery) {
    if (keyDelivery.isIdle()) deliveries.remove(key);
  }

  // ---- couriers

  private void wakeCourier(String key) {
    Instant until;
    boolean early;
    synchronized (this) {
      if (closed) return;
      var keyDelivery = keyDelivery(key);
      keyDelivery.needsCourier = true;
      if (keyDelivery.hasCourier) return;
      until = keyDelivery.retryAt;
      early = until.isAfter(now());
      keyDelivery.hasCourier = !early;
      if (!early) keyDelivery.beginReading();
    }
    if (early) dueTimes.add(key, until); // it did not take that one while it had an earlier one
    else start(key);
  }

  private void start(String key) {
    try {
      Thread.ofVirtual().name("courier of " + kind.id(key)).start(() -> runCourier(key));
    } catch (Throwable noThread) {
      retry(key, "there is no thread");
      throw noThread;
    }
  }

  private void runCourier(String key) {
    try {
      while (deliverBatch(key)) {
      } // to the next messages
    } catch (StoreClosedException over) { // waiting messages are given when the store is open again
      synchronized (this) {
        keyDelivery(key).endReading();
      }
      releaseRequests(key);
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).warn("what waits for {} could not be given to it", kind.id(key), failure);
      retry(key, "its courier failed");
    }
  }

  /** Returns false if the courier is to end. */
  private boolean deliverBatch(String key) throws InterruptedException {
    var answers = new LinkedHashMap<String, CompletableFuture<Object>>(); // of what is given, by id
    boolean any = false;
    do {
      var found = nextMessage(key, MAX_BATCH - answers.size());
      deliver(key, enqueueReadable(key, found), answers);
      any |= !found.isEmpty();
    } while (continueReading(key));
    return any ? awaitAnswers(key, answers) : scheduleNext(key);
  }

  /** Messages that senders left meanwhile are given with the others, as long as there is room. */
  private boolean continueReading(String key) {
    synchronized (this) {
      if (keyDelivery(key).shouldReadOnceMore() && !closed) return true;
      keyDelivery(key).endReading();
    }
    releaseRequests(key);
    return false;
  }

  /** Returns the first due messages, without those that are being given already. */
  private List<Store.PendingMessage> nextMessage(String key, int room) {
    Instant looked;
    int max;
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      keyDelivery.needsCourier = false;
      if (closed || keyDelivery.isHalted()) return List.of();
      keyDelivery.beginReading();
      keyDelivery.removeLost();
      looked = now(); // all that was left before is due
      keyDelivery.readUntil = looked;
      max = room + keyDelivery.size();
    }
    var found = store.pending(kind.id(key), looked, max);
    synchronized (this) {
      return keyDelivery(key).filterUnknown(found, max, room);
    }
  }

  /** Otherwise a courier comes when the next message is due, or a halted actor has answered. */
  private boolean scheduleNext(String key) {
    Instant looked;
    synchronized (this) {
      looked = keyDelivery(key).readUntil;
    }
    store.nextDueTime(kind.id(key), looked).ifPresent(due -> onMessageStored(key, due)); // it may be due by now
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      if (keyDelivery.shouldReadAgain() && !closed) return true;
      keyDelivery.hasCourier = false;
      keyDelivery.needsCourier = keyDelivery.isHalted() && !closed;
      keyDelivery.failures = 0;
      removeIfIdle(key, keyDelivery);
      return false;
    }
  }

  /**
   * Returns the messages that can be read, or none if a message that was begun before comes first.
   */
  private List<StoredMessage<Object>> enqueueReadable(String key, List<Store.PendingMessage> found) {
    var batch = found.stream().map(this::decode).flatMap(Optional::stream).toList();
    synchronized (this) {
      return keyDelivery(key).tryAddAll(batch) ? batch : List.of();
    }
  }

  private void deliver(String key, List<StoredMessage<Object>> batch, Map<String, CompletableFuture<Object>> answers) {
    int called = 0;
    try {
      var actor = actors.apply(key);
      while (called < batch.size()) {
        var kept = batch.get(called++);
        answers.put(kept.id(), kept.inContext(blockBuilder, actor, () -> call(actor, key, kept)));
      }
    } finally {
      // All were counted before, so no message counts as the last one too early
      for (; called < batch.size(); called++) endCall(key);
    }
  }

  private boolean awaitAnswers(String key, Map<String, CompletableFuture<Object>> answers) throws InterruptedException {
    for (var answer : answers.values()) await(answer);
    synchronized (this) {
      if (answers.isEmpty() || !answers.keySet().stream().allMatch(keyDelivery(key)::has)) return true;
    }
    retry(key, "it could not handle what waits for it");
    return false;
  }

  private static void await(CompletableFuture<Object> answer) throws InterruptedException {
    try {
      answer.get();
    } catch (ExecutionException | CancellationException failed) {} // the actor's policy has heard of it
  }

  /**
   * Returns an empty value if the message cannot be read; it waits until another version of the
   * program reads it.
   */
  private Optional<StoredMessage<Object>> decode(Store.PendingMessage one) {
    try {
      return Optional.of(StoredMessage.of(one, kind.messages().requireCodec()));
    } catch (CodecException | IllegalArgumentException unknown) {
      LoggerFactory.getLogger(Durable.class).error("a message that waits for {} cannot be read; it goes on waiting",
          one.to(), unknown);
      synchronized (this) {
        keyDelivery(one.to().key()).addUnreadable(one.id());
      }
      return Optional.empty();
    }
  }

  /** Later: the pauses grow. */
  private void retry(String key, String why) {
    Instant when;
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      keyDelivery.hasCourier = false;
      when = now().plusSeconds(1L << Math.min(keyDelivery.failures++, MAX_BACKOFF_DOUBLINGS));
      keyDelivery.retryAt = when;
      keyDelivery.endReading();
    }
    LoggerFactory.getLogger(Durable.class).debug("{} is tried again: {}", kind.id(key), why);
    dueTimes.add(key, when);
    releaseRequests(key);
  }

  @Override
  public void close() {
    List<String> keys;
    synchronized (this) {
      closed = true;
      deliveries.values().forEach(KeyDelivery::endReading);
      keys = List.copyOf(deliveries.keySet());
    }
    keys.forEach(this::releaseRequests);
    dueTimes.close();
    registry.remove(this);
  }
}
