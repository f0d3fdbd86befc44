package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.time.Scheduler;
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
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Gives what waits at a store to the actors of a kind. Thread-safe.
 *
 * <p>A message is <i>in hand</i> from before its sender has stored it until its actor is done with
 * it: so it is given once at a time. All others that are due are given by a courier, a fiber for
 * each actor, in the order in which they were stored. While there is one, senders leave their
 * messages to it, so that they overtake none.
 *
 * <p>Where a message goes on waiting that was before others in a mailbox, these are <i>halted</i>:
 * the actor does not handle them, and when the last of them has come back, a courier gives all
 * anew, in their order.
 */
final class Delivery implements AutoCloseable {
  private static final int BATCH = 64;
  private static final int MOST_RETRY = 6; // the pauses double so often

  private final Store store;
  private final Kinds<?> kind;
  private final Scheduler scheduler;
  private final Map<String, Hand> hands = new HashMap<>(); // by key; this and all below under this object's monitor
  private final Set<String> begun = new HashSet<>(); // of messages that waited when the process began
  private final Calendar calendar;
  private Function<String, Actor<Object>> actors;
  private Set<String> keys = Set.of(); // empty: all
  private Instant start = Instant.MIN; // what was due then has waited for this process
  private boolean closed;

  Delivery(Store store, Kinds<?> kind, Scheduler scheduler) {
    this.store = store;
    this.kind = kind;
    this.scheduler = scheduler;
    this.calendar = new Calendar(this::now, scheduler, this::wake);
  }

  Store store() {
    return store;
  }

  /** As stores keep times. */
  Instant now() {
    return Instant.ofEpochMilli(store.clock().millis());
  }

  /** By the store's clock. */
  void sleepUntil(Instant time) throws InterruptedException {
    for (var left = Calendar.untilLook(now(), time); left.isPositive(); left = Calendar.untilLook(now(), time))
      scheduler.sleepUntil(scheduler.nanoTime() + left.toNanos());
  }

  // ---- what waits

  /** From now on, for all keys. */
  void start(Function<String, Actor<Object>> who) {
    synchronized (this) {
      if (closed) return;
      actors = who;
      start = now();
      Home.of(store).add(this);
    }
    store.waiting(kind.name(), (id, due) -> {
      if (serves(id)) told(id.key(), due);
    });
  }

  /** From now on, for one key. */
  void start(String key, Actor<Object> who) {
    keys = Set.of(key);
    start(same -> who);
  }

  boolean serves(Store.Id id) {
    return id.kind().equals(kind.name()) && (keys.isEmpty() || keys.contains(id.key()));
  }

  /** By any thread, also the store's: a message waits for this actor. */
  void told(String key, Instant due) {
    if (due.equals(Mail.NEVER)) return;
    if (due.isAfter(now())) calendar.add(key, due);
    else wake(key);
  }

  /** Whether it waited when the process began, and was not begun since. True once. */
  synchronized boolean isFirstOfOld(String key, Kept<?> kept) {
    return kept.looked() && !kept.due().isAfter(start) && begun.add(kept.unique() + " of " + key);
  }

  // ---- in hand

  private Hand hand(String key) {
    return hands.computeIfAbsent(key, none -> new Hand());
  }

  synchronized void take(String key, String id, boolean asked) {
    hand(key).take(id, asked);
  }

  /** By its sender, after it was stored. */
  void give(Actor<Object> actor, String key, Kept<Object> kept) {
    if (leaveToCourier(key, kept.id())) {
      wake(key);
      return;
    }
    try {
      inHandUntilAnswered(key, kept.id(), () -> actor.sendMessageReturn(kept));
    } catch (RuntimeException refused) {
      // such as what the birth of an entity throws: a courier tries again
    }
  }

  <R> CompletableFuture<R> inHandUntilAnswered(String key, String id, Supplier<CompletableFuture<R>> sending) {
    boolean sent = false;
    try {
      var answer = sending.get();
      sent = true;
      answer.whenComplete((value, failure) -> {
        if (failure instanceof ActorStoppedException) halt(key);
        release(key, id);
      });
      return answer;
    } finally {
      if (!sent) release(key, id);
    }
  }

  private synchronized boolean leaveToCourier(String key, String id) {
    var hand = hand(key);
    if (hand.isFree()) return false;
    hand.drop(id);
    return true;
  }

  /** One of those in the mailbox goes on waiting: none may be handled before it. */
  synchronized void halt(String key) {
    var hand = hands.get(key);
    if (hand != null) hand.halt();
  }

  synchronized boolean isHalted(String key, String id) {
    var hand = hands.get(key);
    return hand != null && hand.isHalted(id);
  }

  /** As far as a courier has tried. */
  synchronized boolean isReadable(String key, String id) {
    var hand = hands.get(key);
    return hand == null || hand.isReadable(id);
  }

  /** The actor is done with it, or never will be: then it goes on waiting, and a courier comes. */
  void release(String key, String id) {
    boolean expected;
    synchronized (this) {
      var hand = hands.get(key);
      if (hand == null || !hand.has(id)) return;
      hand.drop(id);
      expected = hand.again;
      clean(key, hand);
      if (closed) return;
    }
    try {
      if (expected || store.due(new Store.Id(kind.name(), key), id).isPresent()) wake(key);
    } catch (RuntimeException gone) { // the store; it has the message
      LoggerFactory.getLogger(Durable.class).debug("{} '{}' cannot be looked after", kind.name(), key, gone);
    }
  }

  private void clean(String key, Hand hand) {
    if (hand.isOfNoUse()) hands.remove(key);
  }

  // ---- couriers

  private void wake(String key) {
    synchronized (this) {
      if (closed) return;
      var hand = hand(key);
      hand.again = true;
      if (hand.courier || hand.until.isAfter(now())) return;
      hand.courier = true;
    }
    boolean started = false;
    try {
      Thread.ofVirtual().name("courier of " + kind.name() + " " + key).start(() -> run(key));
      started = true;
    } finally {
      if (!started) retry(key, "there is no thread");
    }
  }

  private void run(String key) {
    try {
      for (var batch = next(key); !batch.isEmpty() || goesOn(key); batch = next(key))
        if (!batch.isEmpty() && !give(key, batch)) {
          retry(key, "it could not handle what waits for it");
          return;
        }
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).warn("messages that wait for {} '{}' could not be given to it",
          kind.name(), key, failure);
      retry(key, failure.toString());
    }
  }

  /** Empty: all that is due is in hand. */
  private List<Store.Waiting> next(String key) {
    var looked = now();
    int most;
    synchronized (this) {
      var hand = hand(key);
      hand.again = false;
      if (closed || hand.isHalted()) return List.of();
      hand.looked = looked;
      most = BATCH + hand.size();
    }
    var found = store.waiting(new Store.Id(kind.name(), key), looked, most);
    synchronized (this) {
      var hand = hand(key);
      return hand.isHalted() ? List.of() : hand.takeNew(found, BATCH); // one may have been halted meanwhile
    }
  }

  /** False: the courier goes, and comes again when the next message is due. */
  private boolean goesOn(String key) {
    Instant looked;
    synchronized (this) {
      looked = hand(key).looked;
    }
    store.next(new Store.Id(kind.name(), key), looked).ifPresent(due -> told(key, due)); // it may be due by now
    synchronized (this) {
      var hand = hand(key);
      if (hand.again && !closed) return true;
      hand.courier = false;
      hand.failures = 0;
      clean(key, hand);
      return false;
    }
  }

  /** False: one of them still waits. */
  private boolean give(String key, List<Store.Waiting> batch) throws InterruptedException {
    var actor = actors.apply(key);
    var given = new LinkedHashMap<Store.Waiting, CompletableFuture<Object>>();
    try {
      for (var one : batch) {
        var kept = kept(one);
        if (kept.isPresent() && !isSent(actor, kept.get(), one, given)) break; // those behind it must not overtake it
      }
      boolean done = true;
      for (var one : given.entrySet()) {
        await(one.getValue());
        done &= !store.due(one.getKey().to(), one.getKey().id()).equals(Optional.of(one.getKey().due()));
      }
      return done;
    } finally {
      synchronized (this) {
        for (var one : batch) hand(key).drop(one.id());
      }
    }
  }

  private static boolean isSent(Actor<Object> actor, Kept<Object> kept, Store.Waiting one,
      Map<Store.Waiting, CompletableFuture<Object>> given) {
    try {
      var answer = actor.sendMessageReturn(kept);
      given.put(one, answer);
      return !answer.isCompletedExceptionally();
    } catch (RuntimeException unborn) { // those before it are in hand until they are answered
      given.put(one, CompletableFuture.failedFuture(unborn));
      return false;
    }
  }

  private static void await(CompletableFuture<Object> answer) throws InterruptedException {
    try {
      answer.get();
    } catch (ExecutionException | CancellationException failed) {
      // the actor's policy has heard of it
    }
  }

  /** Empty: it cannot be read, and waits until another version of the program reads it. */
  private Optional<Kept<Object>> kept(Store.Waiting one) {
    try {
      var mail = Mail.read(one.body());
      return Optional.of(
          new Kept<>(one.id(), one.due(), kind.messages().known().decode(mail.message()), mail, true, false));
    } catch (CodecException | IllegalArgumentException unknown) {
      LoggerFactory.getLogger(Durable.class).error("a message that waits for {} cannot be read; it goes on waiting",
          one.to(), unknown);
      synchronized (this) {
        hand(one.to().key()).dropUnreadable(one.id());
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
    }
    LoggerFactory.getLogger(Durable.class).debug("{} '{}' is tried again: {}", kind.name(), key, why);
    calendar.add(key, when);
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    calendar.close();
    Home.of(store).remove(this);
  }
}
