package io.fibry.durable.delivery;

import io.fibry.Actor;
import io.fibry.codec.CodecException;
import io.fibry.durable.RequestStoredException;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.durable.storage.DurableLog;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Delivers the messages that wait at a store to the actors of a kind. Thread-safe.
 *
 * <p>A message is <i>in delivery</i> from its reservation, just before its sender stores it, until
 * its turn is stored. Meanwhile it is not delivered a second time. All other due messages are
 * delivered by a courier for each actor, in the order in which they were stored. While a courier
 * has due messages, senders leave new messages to it, so that no message is overtaken.
 *
 * <p>A courier has a fiber while it reads and delivers a batch. While the courier waits until the
 * actor has handled the batch, it is parked without a fiber, because a handler may sleep for days.
 * The thread that ends the last call of a parked batch starts the courier again, see {@link
 * CourierBatch}.
 *
 * <p>Messages are handled in the order of a queue beside the mailbox, see {@link KeyDelivery}. The
 * mailbox contains calls: each lets the actor handle all messages up to a certain message. If calls
 * were lost when an actor ended, the next call handles their messages, too. When the state is read
 * again, messages that were begun come first again.
 */
public final class PendingDelivery implements StoreRegistry.Delivery, AutoCloseable {
  private static final int MAX_BATCH = 64;
  private static final int MAX_BACKOFF_DOUBLINGS = 6; // pauses from 1 to 64 seconds
  private static final int MAX_READS = 64; // reads of couriers at the same time; others must not wait behind more

  /** An attempt at a message; {@code messageId} is unique among the messages of the key. */
  private record AttemptedMessage(String key, String messageId) {}

  private final StoreBackend store;
  private final StoreRegistry registry;
  private final DefaultDurableBuilder<?> kind;
  public final BlockBuilder<?> blockBuilder; // has the scope's clock and contexts, and describes requests
  // by key; this and the variables below are guarded by this object's monitor
  private final Map<String, KeyDelivery> deliveries = new HashMap<>();
  // messages that waited at `startedAt`, and were begun since
  private final Set<AttemptedMessage> attempted = new HashSet<>();
  public final DueTimes dueTimes;
  private final Semaphore readPermits = new Semaphore(MAX_READS, true);
  private Function<String, Actor<Object>> actorOfKey; // null until `start`
  private final Predicate<String> isOwnedKey; // whether this program owns the key
  private Instant startedAt = Instant.MIN; // an earlier process may have begun messages sent before this time
  private boolean closed;

  public PendingDelivery(StoreBackend store, DefaultDurableBuilder<?> kind, BlockBuilder<?> blockBuilder,
      Predicate<String> isOwnedKey) {
    this.store = store;
    this.registry = StoreRegistry.of(store);
    this.kind = kind;
    this.blockBuilder = blockBuilder;
    this.isOwnedKey = isOwnedKey;
    this.dueTimes = new DueTimes(this::now, blockBuilder.scheduler(), this::wakeCourier);
  }

  public StoreBackend store() {
    return store;
  }

  /**
   * Returns the time in the precision in which stores keep times. The store's clock may be code of
   * a user, so this method is not called under the monitor.
   */
  public Instant now() {
    return Instant.ofEpochMilli(store.clock().millis());
  }

  /** Returns the exception for the asker of a request that is stored and gets no answer. */
  public RequestStoredException requestStoredException(String key, Object request, Throwable cause) {
    return new RequestStoredException(kind.id(key).toString(), blockBuilder.describeRequest(request), request, cause);
  }

  // ---- waiting messages

  /** Starts the delivery, also of messages that wait at the store already. */
  public void start(Function<String, Actor<Object>> actorOfKey) {
    var now = now();
    synchronized (this) {
      if (closed) return;
      this.actorOfKey = actorOfKey;
      startedAt = now;
      registry.add(this);
    }
    var keys = new ArrayList<String>(); // whose couriers were reserved here
    StoreRegistry.earliestDue(store, kind.name(), id -> isOwnedKey.test(id.key())).forEach((id, due) -> {
      if (due.isAfter(now())) dueTimes.add(id.key(), due);
      else if (reserveCourier(id.key())) keys.add(id.key());
    });
    if (!keys.isEmpty()) Thread.ofVirtual().name("couriers of " + kind.name()).start(() -> startCouriers(keys));
  }

  @Override
  public boolean deliver(Store.ActorId id, Instant due) {
    boolean isServed = id.kind().equals(kind.name()) && isOwnedKey.test(id.key());
    if (isServed) onMessageStored(id.key(), due);
    return isServed;
  }

  /** Delivers a message when it is due. Called by any thread, also by the store's threads. */
  void onMessageStored(String key, Instant due) {
    if (due.equals(StoreBackend.PendingMessage.NEVER)) return;
    if (due.isAfter(now())) dueTimes.add(key, due);
    else wakeCourier(key);
  }

  /** Returns true once for each message that waited at the store when the delivery started. */
  public synchronized boolean isFirstAttemptAfterRestart(String key, StoredMessage<?> message) {
    return message.isReadFromStore() && !message.sentAt().isAfter(startedAt)
        && attempted.add(new AttemptedMessage(key, message.uniqueId()));
  }

  private KeyDelivery keyDelivery(String key) {
    return deliveries.computeIfAbsent(key, newKey -> new KeyDelivery());
  }

  synchronized void reserve(String key, String id) {
    keyDelivery(key).reserve(id);
  }

  /** Ends the reservation of a message that the store certainly does not have. */
  synchronized void unreserve(String key, String id) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null && keyDelivery.unreserve(id)) removeIfIdle(key, keyDelivery);
  }

  /** Delivers a message, or leaves it to a courier. Called by the sender after storing it. */
  void deliver(Actor<Object> actor, String key, StoredMessage<Object> message) {
    if (tryEnqueue(key, message)) call(actor, key, message, (answer, failure) -> endCall(key));
    else wakeCourier(key);
  }

  private synchronized boolean tryEnqueue(String key, StoredMessage<Object> message) {
    var keyDelivery = keyDelivery(key);
    keyDelivery.unreserve(message.id());
    return keyDelivery.tryAdd(message);
  }

  /**
   * Calls the actor.
   *
   * @param onEnd runs when the call was answered or has failed, as when an entity cannot be made
   */
  private void call(Actor<Object> actor, String key, StoredMessage<Object> message,
      BiConsumer<Object, Throwable> onEnd) {
    CompletableFuture<Object> answer = null;
    try {
      answer = actor.sendMessageReturn(message);
    } catch (RuntimeException notSent) {
      registry.failureLog().logRefusal("messages that wait for " + kind.id(key) + " could not be delivered", notSent);
      answer = CompletableFuture.failedFuture(notSent);
    } finally {
      if (answer == null) endCall(key);
    }
    answer.whenComplete(onEnd);
  }

  private void endCall(String key, CourierBatch batch) {
    try {
      endCall(key);
    } finally {
      boolean mustStart;
      synchronized (this) {
        mustStart = batch.endCall();
      }
      if (mustStart) startParkedCourier(key, batch.ids());
    }
  }

  private void endCall(String key) {
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      boolean mustRead = keyDelivery.endCall();
      removeIfIdle(key, keyDelivery);
      if (!mustRead) return;
    }
    wakeCourier(key);
  }

  /** Ends a reservation. If the message still waits at the store, a courier delivers it. */
  void release(String key, String id) {
    synchronized (this) {
      var keyDelivery = deliveries.get(key);
      if (keyDelivery == null || !keyDelivery.unreserve(id)) return;
    }
    wakeCourier(key);
  }

  /**
   * Returns a future that is done when a new request can be sent without overtaking messages of a
   * courier.
   */
  synchronized CompletableFuture<Void> orderBarrier(String key) {
    var barrier = new CompletableFuture<Void>();
    var keyDelivery = deliveries.get(key);
    return keyDelivery != null && keyDelivery.holdRequest(barrier) ? barrier : KeyDelivery.DONE;
  }

  /**
   * Returns a future that is done when the requests that are now held for these actors were sent.
   */
  synchronized CompletableFuture<Void> endBarrier(Predicate<String> isIncluded) {
    var barriers = deliveries.entrySet().stream().filter(entry -> isIncluded.test(entry.getKey()))
        .map(entry -> entry.getValue().holdEnd());
    return CompletableFuture.allOf(barriers.toArray(CompletableFuture[]::new));
  }

  /** Sends the held requests one after the other, also requests that are held during this call. */
  private void releaseRequests(String key) {
    for (var requests = takeReleased(key, true); !requests.isEmpty(); requests = takeReleased(key, false))
      for (var request : requests) request.complete(null);
  }

  private synchronized List<CompletableFuture<Void>> takeReleased(String key, boolean isFirstCall) {
    var keyDelivery = deliveries.get(key);
    return keyDelivery == null ? List.of() : keyDelivery.takeReleased(isFirstCall);
  }

  // ---- the actor

  /**
   * Begins and returns the next queued message up to {@code lastMessage}. Returns an empty value if
   * no message may be handled now.
   */
  public synchronized Optional<StoredMessage<Object>> beginNextUpTo(String key, StoredMessage<?> lastMessage,
      BooleanSupplier hasActorEnded) {
    var keyDelivery = deliveries.get(key);
    return keyDelivery == null || hasActorEnded.getAsBoolean() ? Optional.empty()
        : keyDelivery.beginNextUpTo(lastMessage);
  }

  /** Forgets a message whose turn is stored, or that does not wait any more. */
  public synchronized void complete(String key, String id, Instant due) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery == null) return;
    keyDelivery.complete(id, due);
    removeIfIdle(key, keyDelivery);
  }

  /** Stops the handling: a message that was begun still waits at the store, and must come first. */
  public synchronized void halt(String key) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null) keyDelivery.halt();
  }

  /**
   * Queues the messages again for a new life. {@code pendingIds} were pending when the life began.
   */
  public synchronized void restart(String key, List<String> pendingIds) {
    var keyDelivery = deliveries.get(key);
    if (keyDelivery != null) keyDelivery.restart(pendingIds);
  }

  private void removeIfIdle(String key, KeyDelivery keyDelivery) {
    if (keyDelivery.isIdle()) deliveries.remove(key);
  }

  // ---- couriers

  private void wakeCourier(String key) {
    if (reserveCourier(key)) startCourier(key, List.of());
  }

  /**
   * Reserves a courier, if the actor has none. Senders then leave messages to the courier, and
   * requests wait for it. Returns whether the caller must start the courier.
   */
  private boolean reserveCourier(String key) {
    synchronized (this) {
      if (!needsNewCourier(key)) return false;
    }
    var now = now();
    Instant retryAt;
    synchronized (this) {
      if (!needsNewCourier(key)) return false; // another thread has reserved a courier meanwhile
      var keyDelivery = keyDelivery(key);
      retryAt = keyDelivery.retryAt;
      keyDelivery.hasCourier = !retryAt.isAfter(now);
      if (keyDelivery.hasCourier) {
        keyDelivery.beginReading();
        return true;
      }
    }
    dueTimes.add(key, retryAt); // DueTimes ignores a time if the key has an earlier time
    return false;
  }

  /** Lets the courier of an actor read again. Returns whether the actor has no courier. */
  private boolean needsNewCourier(String key) {
    if (closed) return false;
    var keyDelivery = keyDelivery(key);
    keyDelivery.needsCourier = true;
    return !keyDelivery.hasCourier;
  }

  /**
   * Starts couriers that were reserved. Before each courier it waits until a read is possible, so
   * few couriers wait for a read. Parked couriers are not limited. After the delivery was closed,
   * no more couriers are needed, because {@link #close} has sent the held requests.
   */
  private void startCouriers(List<String> keys) {
    for (var key : keys) {
      readPermits.acquireUninterruptibly();
      readPermits.release();
      synchronized (this) {
        if (closed) return;
      }
      try {
        startCourier(key, List.of());
        Thread.yield(); // lets the courier begin its read
      } catch (Throwable failure) { // such as a lack of memory: `startCourier` has scheduled another courier
        registry.failureLog().logUndelivered(kind.id(key), failure);
      }
    }
  }

  /** @param deliveredIds ids of the last batch; empty at the first start of the courier */
  private void startCourier(String key, List<String> deliveredIds) {
    try {
      Thread.ofVirtual().name("courier of " + kind.id(key)).start(() -> runCourier(key, deliveredIds));
    } catch (Throwable failure) {
      retry(key, "there is no thread");
      throw failure;
    }
  }

  /** Called by a timer, and by the thread that ends the last call of a batch. */
  private void startParkedCourier(String key, List<String> deliveredIds) {
    try {
      startCourier(key, deliveredIds);
    } catch (Throwable failure) { // such as a lack of memory: `startCourier` has scheduled another courier
      registry.failureLog().logUndelivered(kind.id(key), failure);
    }
  }

  private void runCourier(String key, List<String> deliveredIds) {
    try {
      boolean mustContinue = hasProgress(key, deliveredIds);
      while (mustContinue) mustContinue = deliverBatch(key); // each call delivers the next messages
    } catch (StoreClosedException storeClosed) { // the messages are delivered when the store is opened again
      synchronized (this) {
        keyDelivery(key).endReading();
      }
      releaseRequests(key);
    } catch (Throwable failure) {
      registry.failureLog().logUndelivered(kind.id(key), failure);
      retry(key, "its courier failed");
    }
  }

  /**
   * Delivers messages. Returns whether to continue. If not, the courier has ended, or it is parked
   * until the messages are handled.
   */
  private boolean deliverBatch(String key) throws InterruptedException {
    var batch = new CourierBatch();
    boolean hasRead = false;
    do {
      var dueMessages = readDue(key, MAX_BATCH - batch.size());
      deliver(key, enqueueReadable(key, dueMessages), batch);
      hasRead |= !dueMessages.isEmpty();
    } while (continueReading(key));
    if (!hasRead) return scheduleNext(key);
    synchronized (this) {
      if (batch.park()) return false;
    }
    return hasProgress(key, batch.ids());
  }

  /** Returns whether to read once more, because senders left messages that fit into the batch. */
  private boolean continueReading(String key) {
    synchronized (this) {
      if (keyDelivery(key).shouldReadOnceMore() && !closed) return true;
      keyDelivery(key).endReading();
    }
    releaseRequests(key);
    return false;
  }

  /** Reads the first due messages from the store, without messages that are in delivery. */
  private List<StoreBackend.PendingMessage> readDue(String key, int capacity) throws InterruptedException {
    int maxRead;
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      keyDelivery.needsCourier = false;
      if (closed || keyDelivery.isHalted()) return List.of();
      keyDelivery.beginReading();
      keyDelivery.removeLost();
      maxRead = capacity + keyDelivery.skippedCount();
    }
    var readTime = now(); // not read earlier, so that all messages that senders left before are due
    var dueMessages = readPending(key, readTime, maxRead);
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      keyDelivery.lastReadAt = readTime;
      return keyDelivery.filterNew(dueMessages, maxRead, capacity);
    }
  }

  private List<StoreBackend.PendingMessage> readPending(String key, Instant until, int maxRead)
      throws InterruptedException {
    readPermits.acquire();
    try {
      return store.pending(kind.id(key), until, maxRead);
    } finally {
      readPermits.release();
    }
  }

  /** Returns whether to read again. If not, a due message or the end of a halt wakes a courier. */
  private boolean scheduleNext(String key) {
    Instant readTime;
    synchronized (this) {
      readTime = keyDelivery(key).lastReadAt;
    }
    // the message may be due by now; `onMessageStored` then wakes a courier
    store.nextDueTime(kind.id(key), readTime).ifPresent(due -> onMessageStored(key, due));
    synchronized (this) {
      var keyDelivery = keyDelivery(key);
      if (keyDelivery.shouldReadAgain() && !closed) return true;
      keyDelivery.hasCourier = false;
      keyDelivery.needsCourier = keyDelivery.isHalted() && !closed;
      keyDelivery.consecutiveFailures = 0;
      removeIfIdle(key, keyDelivery);
      return false;
    }
  }

  /**
   * Decodes and queues messages, and returns the queued messages. Returns an empty list if a
   * message that was begun earlier comes first.
   */
  private List<StoredMessage<Object>> enqueueReadable(String key, List<StoreBackend.PendingMessage> dueMessages) {
    var batch = dueMessages.stream().map(this::decode).flatMap(Optional::stream).toList();
    synchronized (this) {
      return keyDelivery(key).tryAddAll(batch) ? batch : List.of();
    }
  }

  private void deliver(String key, List<StoredMessage<Object>> messages, CourierBatch batch) {
    int callCount = 0;
    try {
      var actor = actorOfKey.apply(key);
      while (callCount < messages.size()) {
        var message = messages.get(callCount++);
        batch.add(message.id());
        message.runInContext(blockBuilder, actor,
            () -> call(actor, key, message, (answer, failure) -> endCall(key, batch)));
      }
    } finally {
      // tryAddAll has counted all calls, also calls that were not made
      for (; callCount < messages.size(); callCount++) endCall(key);
    }
  }

  /**
   * Returns whether the actor handled a message of the batch, or the batch is empty. If not,
   * schedules a retry.
   */
  private boolean hasProgress(String key, List<String> deliveredIds) {
    synchronized (this) {
      if (deliveredIds.isEmpty() || !deliveredIds.stream().allMatch(keyDelivery(key)::has)) return true;
    }
    retry(key, "the actor handled no message of the batch");
    return false;
  }

  /**
   * Decodes a message. Returns an empty value if that fails; the message then waits until another
   * version of the program reads it.
   */
  private Optional<StoredMessage<Object>> decode(StoreBackend.PendingMessage pending) {
    try {
      return Optional.of(StoredMessage.of(pending, kind.messages().requireCodec()));
    } catch (CodecException | IllegalArgumentException unreadable) {
      registry.failureLog().logUnreadableMessage(pending.to(), unreadable);
      synchronized (this) {
        keyDelivery(pending.to().key()).addUnreadable(pending.id());
      }
      return Optional.empty();
    }
  }

  /** Ends the courier. Another courier starts after a pause that grows with each failure. */
  private void retry(String key, String reason) {
    DurableLog.LOG.debug("the delivery to {} is tried again: {}", kind.id(key), reason);
    Instant now = null; // stays null if the clock throws
    try {
      now = now();
    } catch (Throwable clockFailure) {
      registry.failureLog().logUndelivered(kind.id(key), clockFailure);
    }
    var pause = endFailedCourier(key, now);
    try {
      if (now == null) startCourierAfter(pause, key);
      else addRetry(key, now, pause);
    } finally {
      releaseRequests(key);
    }
  }

  private void addRetry(String key, Instant now, Duration pause) {
    try {
      dueTimes.add(key, now.plus(pause));
    } catch (Throwable failure) { // such as a failure of the store's clock, which is read once more
      registry.failureLog().logUndelivered(kind.id(key), failure);
      startCourierAfter(pause, key);
    }
  }

  /** Starts a courier after a pause by the scheduler, because the store's clock has failed. */
  private void startCourierAfter(Duration pause, String key) {
    blockBuilder.scheduler().schedule(pause, () -> {
      boolean isReserved;
      try {
        isReserved = reserveCourier(key);
      } catch (Throwable clockFailure) {
        registry.failureLog().logUndelivered(kind.id(key), clockFailure);
        startCourierAfter(pause, key); // not after the close: then `reserveCourier` reads no clock
        return;
      }
      if (isReserved) startParkedCourier(key, List.of());
    });
  }

  /** Returns the pause before the next courier. {@code now} is null if the time is not known. */
  private synchronized Duration endFailedCourier(String key, Instant now) {
    var keyDelivery = keyDelivery(key);
    keyDelivery.hasCourier = false;
    var pause = Duration.ofSeconds(1L << Math.min(keyDelivery.consecutiveFailures++, MAX_BACKOFF_DOUBLINGS));
    if (now != null) keyDelivery.retryAt = now.plus(pause);
    keyDelivery.endReading();
    return pause;
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
