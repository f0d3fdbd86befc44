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
  private static final int BATCH = 64;
  private static final int MOST_RETRY = 6; // the pauses double so often

  private final Store store;
  private final StoreRegistry home;
  private final DefaultDurableBuilder<?> kind;
  final BlockBuilder<?> how; // the clock, and texts
  // by key; this and all below under this object's monitor
  private final Map<String, KeyDelivery> hands = new HashMap<>();
  private final Set<String> begun = new HashSet<>(); // of messages that waited when the process began
  private final DueTimes calendar;
  private Function<String, Actor<Object>> actors;
  private final Predicate<String> keys; // chooses the keys that this program owns
  private Instant start = Instant.MIN; // messages that were due before have waited for this process
  private boolean closed;

  PendingDelivery(Store store, DefaultDurableBuilder<?> kind, BlockBuilder<?> how, Predicate<String> keys) {
    this.store = store;
    this.home = StoreRegistry.of(store);
    this.kind = kind;
    this.how = how;
    this.keys = keys;
    this.calendar = new DueTimes(this::now, how.scheduler(), this::wake);
  }

  Store store() {
    return store;
  }

  /** Returns the time in the precision in which stores keep times. */
  Instant now() {
    return Instant.ofEpochMilli(store.clock().millis());
  }

  void sleepUntil(Instant time) throws InterruptedException {
    calendar.sleepUntil(time);
  }

  // ---- what waits

  /** Begins to give messages. */
  void start(Function<String, Actor<Object>> who) {
    synchronized (this) {
      if (closed) return;
      actors = who;
      start = now();
      home.add(this);
    }
    store.forEachPending(kind.name(), (id, due) -> {
      if (serves(id)) told(id.key(), due);
    });
  }

  boolean serves(Store.ActorId id) {
    return id.kind().equals(kind.name()) && keys.test(id.key());
  }

  /** Called by any thread, also a thread of the store: a message waits for this actor. */
  void told(String key, Instant due) {
    if (due.equals(Store.PendingMessage.NEVER)) return;
    if (due.isAfter(now())) calendar.add(key, due);
    else wake(key);
  }

  /** Whether it waited when the process began, and was not begun since. True once. */
  synchronized boolean isFirstOfOld(String key, StoredMessage<?> kept) {
    return kept.looked() && !kept.sentAt().isAfter(start) && begun.add(kept.unique() + " of " + key);
  }

  private KeyDelivery hand(String key) {
    return hands.computeIfAbsent(key, none -> new KeyDelivery());
  }

  synchronized void take(String key, String id) {
    hand(key).take(id);
  }

  /** Its store has it for certain not. */
  synchronized void drop(String key, String id) {
    var hand = hands.get(key);
    if (hand != null && hand.drop(id)) clean(key, hand);
  }

  /** Called by the sender, after its message was stored. */
  void give(Actor<Object> actor, String key, StoredMessage<Object> kept) {
    if (isQueued(key, kept)) call(actor, key, kept);
    else wake(key);
  }

  private synchronized boolean isQueued(String key, StoredMessage<Object> kept) {
    var hand = hand(key);
    hand.drop(kept.id());
    return hand.isAdded(kept);
  }

  /** Fails where there is no actor, such as by what the birth of an entity throws. */
  private CompletableFuture<Object> call(Actor<Object> actor, String key, StoredMessage<Object> kept) {
    CompletableFuture<Object> answer = null;
    try {
      answer = actor.sendMessageReturn(kept);
    } catch (RuntimeException unborn) {
      home.refusals().tell("what waits for " + kind.id(key) + " could not be given to it", unborn);
      answer = CompletableFuture.failedFuture(unborn);
    } finally {
      if (answer == null) over(key);
    }
    return answer.whenComplete((done, failure) -> over(key));
  }

  private void over(String key) {
    synchronized (this) {
      var hand = hand(key);
      boolean expected = hand.isOver();
      clean(key, hand);
      if (!expected) return;
    }
    wake(key);
  }

  /** Unless the message is done, it continues to wait, and a courier will give it. */
  void release(String key, String id) {
    synchronized (this) {
      var hand = hands.get(key);
      if (hand == null || !hand.drop(id)) return;
    }
    wake(key);
  }

  /** Done at once, or when a courier has given what it sees: no request overtakes that. */
  synchronized CompletableFuture<Void> order(String key) {
    var order = new CompletableFuture<Void>();
    var hand = hands.get(key);
    return hand != null && hand.hold(order) ? order : TurnPipeline.STORED;
  }

  /** Done when the requests to these have gone that wait for couriers now: then they may end. */
  synchronized CompletableFuture<Void> orderOfEnd(Predicate<String> which) {
    var ending = hands.entrySet().stream().filter(one -> which.test(one.getKey())).map(one -> one.getValue().holdEnd());
    return CompletableFuture.allOf(ending.toArray(CompletableFuture[]::new));
  }

  /** One after the other. Requests that come meanwhile wait for that, too. */
  private void free(String key) {
    for (var freed = freed(key, true); !freed.isEmpty(); freed = freed(key, false))
      for (var request : freed) request.complete(null);
  }

  private synchronized List<CompletableFuture<Void>> freed(String key, boolean first) {
    var hand = hands.get(key);
    return hand == null ? List.of() : hand.freed(first);
  }

  // ---- the actor

  /**
   * The first of all up to the last. Returns an empty value if the messages are not to be handled
   * now.
   */
  synchronized Optional<StoredMessage<Object>> next(String key, StoredMessage<?> last, BooleanSupplier isCutOff) {
    var hand = hands.get(key);
    return hand == null || isCutOff.getAsBoolean() ? Optional.empty() : hand.next(last);
  }

  /** Its turn is stored, or it waits no more. */
  synchronized void done(String key, String id, Instant due) {
    var hand = hands.get(key);
    if (hand == null) return;
    hand.done(id, due);
    clean(key, hand);
  }

  /** A message that was begun continues to wait; no message behind it may be handled before it. */
  synchronized void halt(String key) {
    var hand = hands.get(key);
    if (hand != null) hand.halt();
  }

  /** After the state was read, when those were waiting. No other life can do a turn any more. */
  synchronized void beginAnew(String key, List<String> waiting) {
    var hand = hands.get(key);
    if (hand != null) hand.beginAnew(waiting);
  }

  private void clean(String key, KeyDelivery hand) {
    if (hand.isOfNoUse()) hands.remove(key);
  }

  // ---- couriers

  private void wake(String key) {
    Instant until;
    boolean early;
    synchronized (this) {
      if (closed) return;
      var hand = hand(key);
      hand.again = true;
      if (hand.courier) return;
      until = hand.until;
      early = until.isAfter(now());
      hand.courier = !early;
      if (!early) hand.beginLooking();
    }
    if (early) calendar.add(key, until); // it did not take that one while it had an earlier one
    else start(key);
  }

  private void start(String key) {
    try {
      Thread.ofVirtual().name("courier of " + kind.id(key)).start(() -> run(key));
    } catch (Throwable noThread) {
      retry(key, "there is no thread");
      throw noThread;
    }
  }

  private void run(String key) {
    try {
      while (isGoingOn(key)) {
      } // to the next messages
    } catch (StoreClosedException over) { // waiting messages are given when the store is open again
      synchronized (this) {
        hand(key).endLooking();
      }
      free(key);
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).warn("what waits for {} could not be given to it", kind.id(key), failure);
      retry(key, "its courier failed");
    }
  }

  /** Returns false if the courier is to end. */
  private boolean isGoingOn(String key) throws InterruptedException {
    var answers = new LinkedHashMap<String, CompletableFuture<Object>>(); // of what is given, by id
    boolean any = false;
    do {
      var found = next(key, BATCH - answers.size());
      give(key, queued(key, found), answers);
      any |= !found.isEmpty();
    } while (isLooking(key));
    return any ? isGoingOn(key, answers) : isExpected(key);
  }

  /** Messages that senders left meanwhile are given with the others, as long as there is room. */
  private boolean isLooking(String key) {
    synchronized (this) {
      if (hand(key).isToLookOnceMore() && !closed) return true;
      hand(key).endLooking();
    }
    free(key);
    return false;
  }

  /** Returns the first due messages, without those that are being given already. */
  private List<Store.PendingMessage> next(String key, int room) {
    Instant looked;
    int most;
    synchronized (this) {
      var hand = hand(key);
      hand.again = false;
      if (closed || hand.isHalted()) return List.of();
      hand.beginLooking();
      hand.forgetLost();
      looked = now(); // all that was left before is due
      hand.looked = looked;
      most = room + hand.size();
    }
    var found = store.pending(kind.id(key), looked, most);
    synchronized (this) {
      return hand(key).unknown(found, most, room);
    }
  }

  /** Otherwise a courier comes when the next message is due, or a halted actor has answered. */
  private boolean isExpected(String key) {
    Instant looked;
    synchronized (this) {
      looked = hand(key).looked;
    }
    store.nextDueTime(kind.id(key), looked).ifPresent(due -> told(key, due)); // it may be due by now
    synchronized (this) {
      var hand = hand(key);
      if (hand.isToLookAgain() && !closed) return true;
      hand.courier = false;
      hand.again = hand.isHalted() && !closed;
      hand.failures = 0;
      clean(key, hand);
      return false;
    }
  }

  /**
   * Returns the messages that can be read, or none if a message that was begun before comes first.
   */
  private List<StoredMessage<Object>> queued(String key, List<Store.PendingMessage> found) {
    var batch = found.stream().map(this::kept).flatMap(Optional::stream).toList();
    synchronized (this) {
      return hand(key).areAdded(batch) ? batch : List.of();
    }
  }

  private void give(String key, List<StoredMessage<Object>> batch, Map<String, CompletableFuture<Object>> answers) {
    int called = 0;
    try {
      var actor = actors.apply(key);
      while (called < batch.size()) {
        var kept = batch.get(called++);
        answers.put(kept.id(), kept.inContext(how, actor, () -> call(actor, key, kept)));
      }
    } finally {
      // All were counted before, so no message counts as the last one too early
      for (; called < batch.size(); called++) over(key);
    }
  }

  private boolean isGoingOn(String key, Map<String, CompletableFuture<Object>> answers) throws InterruptedException {
    for (var answer : answers.values()) await(answer);
    synchronized (this) {
      if (answers.isEmpty() || !answers.keySet().stream().allMatch(hand(key)::has)) return true;
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
  private Optional<StoredMessage<Object>> kept(Store.PendingMessage one) {
    try {
      return Optional.of(StoredMessage.of(one, kind.messages().known()));
    } catch (CodecException | IllegalArgumentException unknown) {
      LoggerFactory.getLogger(Durable.class).error("a message that waits for {} cannot be read; it goes on waiting",
          one.to(), unknown);
      synchronized (this) {
        hand(one.to().key()).skip(one.id());
      }
      return Optional.empty();
    }
  }

  /** Later: the pauses grow. */
  private void retry(String key, String why) {
    Instant when;
    synchronized (this) {
      var hand = hand(key);
      hand.courier = false;
      when = now().plusSeconds(1L << Math.min(hand.failures++, MOST_RETRY));
      hand.until = when;
      hand.endLooking();
    }
    LoggerFactory.getLogger(Durable.class).debug("{} is tried again: {}", kind.id(key), why);
    calendar.add(key, when);
    free(key);
  }

  @Override
  public void close() {
    List<String> keys;
    synchronized (this) {
      closed = true;
      hands.values().forEach(KeyDelivery::endLooking);
      keys = List.copyOf(hands.keySet());
    }
    keys.forEach(this::free);
    calendar.close();
    home.remove(this);
  }
}
