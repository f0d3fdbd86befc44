package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.slf4j.LoggerFactory;

/**
 * Gives what waits at a store to the actors of a kind. Thread-safe.
 *
 * <p>A message is <i>in hand</i> from before its sender has stored it until its actor is done with
 * it: so it is given once at a time. All others that are due are given by a courier, a fiber for
 * each actor, in the order in which they were stored. While there is one, senders leave their
 * messages to it, so that they overtake none.
 */
final class Delivery implements AutoCloseable {
  private static final int BATCH = 64;
  private static final Duration LOOK = Duration.ofMinutes(1); // so late is it noticed that the clock was set forward
  private static final int MOST_RETRY = 6; // the pauses double so often

  /** What is being given to an actor. */
  private static final class Hand {
    private final Set<String> ids = new HashSet<>(2);
    private boolean courier; // there is one
    private boolean again; // it looks again before it goes
    private boolean old; // messages waited when the process began
    private int failures; // since the last success
  }

  private record Due(Instant at, String key) {}

  private final Store store;
  private final Kinds<?> kind;
  private final Scheduler scheduler;
  private final Map<String, Hand> hands = new HashMap<>(); // by key; this and all below under this object's monitor
  private final PriorityQueue<Due> later = new PriorityQueue<>((one, other) -> one.at.compareTo(other.at));
  private Function<String, Actor<Object>> actors;
  private Set<String> keys = Set.of(); // empty: all
  private Scheduler.Timer timer;
  private boolean closed;

  Delivery(Store store, Kinds<?> kind, Scheduler scheduler) {
    this.store = store;
    this.kind = kind;
    this.scheduler = scheduler;
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
    for (var left = Duration.between(now(), time); left.isPositive(); left = Duration.between(now(), time))
      scheduler.sleepUntil(scheduler.nanoTime() + (left.compareTo(LOOK) > 0 ? LOOK : left).toNanos());
  }

  // ---- what waits

  /** From now on, for all keys. */
  void start(Function<String, Actor<Object>> who) {
    actors = who;
    Home.of(store).add(this);
    var now = now();
    store.waiting(kind.name(), (id, due) -> {
      if (!serves(id)) return;
      if (!due.isAfter(now)) markOld(id.key());
      told(id.key(), due);
    });
  }

  /** From now on, for one key. */
  void start(String key, Actor<Object> who) {
    keys = Set.of(key);
    start(same -> who);
  }

  private synchronized void markOld(String key) {
    hand(key).old = true;
  }

  boolean serves(Store.Id id) {
    return id.kind().equals(kind.name()) && (keys.isEmpty() || keys.contains(id.key()));
  }

  /** By any thread, also the store's: a message waits for this actor. */
  void told(String key, Instant due) {
    if (due.equals(Mail.NEVER)) return;
    if (due.isAfter(now())) addLater(new Due(due, key));
    else wake(key);
  }

  private synchronized void addLater(Due due) {
    if (closed) return;
    later.add(due);
    if (later.peek() == due) setTimer();
  }

  private void setTimer() {
    if (timer != null) timer.cancel();
    var left = Duration.between(now(), later.peek().at);
    timer = scheduler.after(left.compareTo(LOOK) > 0 ? LOOK : left.isNegative() ? Duration.ZERO : left, this::look);
  }

  /** On the timers' thread. */
  private void look() {
    for (var key : takeDue()) wake(key);
  }

  private synchronized Set<String> takeDue() {
    var due = new HashSet<String>();
    while (!later.isEmpty() && !later.peek().at.isAfter(now())) due.add(later.poll().key);
    timer = null;
    if (!later.isEmpty() && !closed) setTimer();
    return due;
  }

  // ---- in hand

  private Hand hand(String key) {
    return hands.computeIfAbsent(key, none -> new Hand());
  }

  synchronized void take(String key, String id) {
    hand(key).ids.add(id);
  }

  /** By its sender, who has stored it. */
  void give(Actor<Object> actor, String key, Kept<Object> kept) {
    if (leaveToCourier(key, kept.id())) return;
    try {
      actor.sendMessageReturn(kept).whenComplete((done, failure) -> release(key, kept.id()));
    } catch (RuntimeException refused) { // such as what the birth of an entity throws: a courier tries again
      release(key, kept.id());
    }
  }

  private synchronized boolean leaveToCourier(String key, String id) {
    var hand = hand(key);
    if (!hand.courier) return false;
    hand.ids.remove(id);
    hand.again = true;
    return true;
  }

  /** The actor is done with it, or never will be: then it goes on waiting, and a courier comes. */
  void release(String key, String id) {
    if (!drop(key, id)) return;
    try {
      if (store.due(new Store.Id(kind.name(), key), id).isPresent()) wake(key);
    } catch (RuntimeException gone) { // the store; it has the message
      LoggerFactory.getLogger(Durable.class).debug("{} '{}' cannot be looked after", kind.name(), key, gone);
    }
  }

  private synchronized boolean drop(String key, String id) {
    var hand = hands.get(key);
    if (hand == null || !hand.ids.remove(id)) return false;
    clean(key, hand);
    return !closed;
  }

  private void clean(String key, Hand hand) {
    if (hand.ids.isEmpty() && !hand.courier && !hand.old && hand.failures == 0) hands.remove(key);
  }

  // ---- couriers

  private void wake(String key) {
    synchronized (this) {
      if (closed) return;
      var hand = hand(key);
      hand.again = true;
      if (hand.courier) return;
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
      for (var batch = next(key); !batch.isEmpty() || hasMore(key); batch = next(key))
        if (!batch.isEmpty() && !give(key, batch)) {
          retry(key, "it could not handle what waits for it");
          return;
        }
    } catch (Throwable failure) {
      LoggerFactory.getLogger(Durable.class).warn("messages that wait for {} '{}' could not be given to it",
          kind.name(),
          key, failure);
      retry(key, failure.toString());
    }
  }

  /** Empty: nothing is due that no one gives. */
  private List<Store.Waiting> next(String key) {
    int most;
    synchronized (this) {
      var hand = hand(key);
      hand.again = false;
      if (closed) return List.of();
      most = BATCH + hand.ids.size();
    }
    var found = store.waiting(new Store.Id(kind.name(), key), now(), most);
    synchronized (this) {
      var ids = hand(key).ids;
      var batch = found.stream().filter(one -> !ids.contains(one.id())).limit(BATCH).toList();
      for (var one : batch) ids.add(one.id());
      return batch;
    }
  }

  /** False: the courier goes. */
  private synchronized boolean hasMore(String key) {
    var hand = hand(key);
    if (hand.again && !closed) return true;
    hand.courier = false;
    hand.old = false;
    hand.failures = 0;
    clean(key, hand);
    return false;
  }

  /** False: one of them still waits. */
  private boolean give(String key, List<Store.Waiting> batch) throws InterruptedException {
    var actor = actors.apply(key);
    boolean old;
    synchronized (this) {
      old = hand(key).old;
    }
    var released = new HashSet<Store.Waiting>(batch);
    var given = new LinkedHashMap<Store.Waiting, CompletableFuture<Object>>();
    try {
      for (var one : batch) {
        var kept = kept(one, old);
        if (kept.isPresent()) given.put(one, actor.sendMessageReturn(kept.get()));
        else released.remove(one);
      }
      boolean done = true;
      for (var one : given.entrySet()) {
        await(one.getValue());
        done &= !store.due(one.getKey().to(), one.getKey().id()).equals(Optional.of(one.getKey().due()));
      }
      return done;
    } finally {
      synchronized (this) {
        for (var one : released) hand(key).ids.remove(one.id());
      }
    }
  }

  private static void await(CompletableFuture<Object> answer) throws InterruptedException {
    try {
      answer.get();
    } catch (ExecutionException | CancellationException failed) {
      // the actor's policy has heard of it
    }
  }

  /** Empty: it cannot be read, and stays in hand until another version of the program reads it. */
  private Optional<Kept<Object>> kept(Store.Waiting one, boolean old) {
    try {
      var mail = Mail.read(one.body());
      return Optional.of(
          new Kept<>(one.id(), one.due(), kind.messages().known().decode(mail.message()), mail, true, old, false));
    } catch (CodecException | IllegalArgumentException unknown) {
      LoggerFactory.getLogger(Durable.class).error("a message that waits for {} cannot be read; it goes on waiting",
          one.to(), unknown);
      return Optional.empty();
    }
  }

  /** Later: the pauses grow. */
  private void retry(String key, String why) {
    Instant when;
    synchronized (this) {
      var hand = hand(key);
      hand.courier = false;
      if (closed) return;
      when = now().plusSeconds(1L << Math.min(hand.failures++, MOST_RETRY));
    }
    LoggerFactory.getLogger(Durable.class).debug("{} '{}' is tried again: {}", kind.name(), key, why);
    addLater(new Due(when, key));
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (timer != null) timer.cancel();
    Home.of(store).remove(this);
  }
}
