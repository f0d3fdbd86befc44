package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

/**
 * Threads load actors from a folder, store turns and messages of these, and leave them, while one
 * thread lists all actors and files move. The machine crashes a few times. After each crash all
 * that the store has confirmed exists, and of each turn all or nothing: its effects, and its
 * messages.
 */
final class InactiveActorsRound {
  private static final int SEGMENT = 4_096; // the smallest one: the log goes through many
  private static final int ACTORS = 5;
  private static final int THREADS = 3;
  private static final int LIVES = 25; // of a thread between two crashes
  private static final Duration LONG = Duration.ofMinutes(10);

  /** A message for an actor. */
  private static final class Message {
    private final Known from; // null: it was accepted for itself
    private final long turn; // of its sender
    private boolean isSure; // the store has confirmed it
    private long doneBy; // a turn of its receiver, or 0

    Message(Known from, long turn) {
      this.from = from;
      this.turn = turn;
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final List<Known> actors = IntStream.range(0, ACTORS).mapToObj(Known::new).toList();
  private SimulatedNode node;
  private int working; // threads
  private boolean isOver;

  InactiveActorsRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
  }

  void play() throws InterruptedException {
    node = simulation.node("store");
    simulation.faults().withDelays(0.02, Duration.ofMillis(2));
    for (int crashes = 1 + random.nextInt(3); crashes > 0; crashes--) {
      start(false);
      for (int points = random.nextInt(400); points > 0; points--) simulation.yieldPoint();
      if (random.nextInt(3) == 0) Thread.sleep(1 + random.nextInt(200));
      node.crash();
      node = node.restart();
    }
    start(true);
    simulation.assertEventually("all is checked", LONG, () -> isOver);
  }

  private void start(boolean last) {
    for (var actor : actors) actor.restart();
    var here = node;
    here.start("open", () -> {
      var store = FolderStore.open(here.disk(), options -> options.withSegmentBytes(SEGMENT));
      settle(store);
      working = THREADS;
      for (int i = 0; i < THREADS; i++) {
        var own = random.split();
        here.start("actors" + i, () -> live(store, own));
      }
      list(store);
      if (!last) return null;
      check(store);
      store.close();
      try (var again = FolderStore.open(here.disk(), options -> options.withSegmentBytes(SEGMENT))) {
        check(again);
      }
      isOver = true;
      return null;
    });
  }

  private Object live(Store store, SplittableRandom own) {
    for (int i = 0; i < LIVES; i++) actors.get(own.nextInt(ACTORS)).live(store, own, actors.get(own.nextInt(ACTORS)));
    return --working;
  }

  /** An actor that was listed once is listed from then on. */
  private void list(Store store) throws InterruptedException {
    var before = Set.<Store.ActorId>of();
    while (working > 0) {
      var now = new HashSet<Store.ActorId>();
      store.forEachActor(id -> assertTrue(now.add(id), id + " was listed twice"));
      assertTrue(now.containsAll(before), () -> "not all are listed: " + now);
      before = now;
      Thread.sleep(1);
    }
  }

  private void settle(Store store) {
    for (var actor : actors) actor.read(store);
    for (var actor : actors) actor.settle();
    check(store);
  }

  private void check(Store store) {
    for (var actor : actors) actor.check(store);
  }

  /** An actor as the store must know it. One thread at a time uses it; any thread sends to it. */
  private final class Known {
    private final Store.ActorId id;
    private final Map<String, Message> messages = new TreeMap<>(); // for it, by id
    private boolean isAlive;
    private long life; // the life before, or 0 if there was none since the machine was started
    private long last; // turn
    private long confirmed; // turn
    private int sent; // to it

    Known(int number) {
      id = new Store.ActorId("account", "a" + number);
    }

    // ---- its lives

    void live(Store store, SplittableRandom own, Known other) {
      if (own.nextInt(4) == 0) accept(store);
      if (isAlive) return;
      isAlive = true;
      var loaded = store.load(id);
      assertEquals(last, loaded.lastTurn(), id::toString);
      assertTrue(loaded.life() != life, "the same life again");
      if (life > 0) assertInstanceOf(StaleLifeException.class,
          failure(store.append(turn(last + 1, false, List.of(), List.of())).toCompletableFuture()));
      life = loaded.life();
      var done = loaded.pendingIds().stream().filter(one -> own.nextBoolean()).toList();
      CompletableFuture<Void> stored = CompletableFuture.completedFuture(null);
      for (int turns = own.nextInt(4); turns > 0; turns--) {
        stored = store.append(next(own, done, other)).toCompletableFuture();
        done = List.of();
      }
      if (last > 0 && own.nextInt(8) == 0) store.snapshot(turn(last, true, List.of(), List.of()));
      if (own.nextBoolean()) stored.join();
      if (own.nextInt(5) > 0) store.endLife(id, life);
      stored.join();
      confirmed = last;
      isAlive = false;
    }

    private Store.Turn next(SplittableRandom own, List<String> done, Known other) {
      long number = ++last;
      for (var message : done) messages.get(message).doneBy = number;
      var sends =
          own.nextInt(6) == 0 ? List.of(other.message(new Message(this, number))) : List.<Store.PendingMessage>of();
      return turn(number, own.nextInt(3) > 0, done, sends);
    }

    private Store.Turn turn(long number, boolean whole, List<String> done, List<Store.PendingMessage> sends) {
      return new Store.Turn(id, life, number, Instant.EPOCH, whole, new byte[40], done, sends);
    }

    private void accept(Store store) {
      var message = new Message(null, 0);
      assertTrue(store.enqueue(message(message), Integer.MAX_VALUE).toCompletableFuture().join());
      message.isSure = true;
    }

    private Store.PendingMessage message(Message message) {
      String name = "m" + ++sent;
      messages.put(name, message);
      return new Store.PendingMessage(id, name, Instant.EPOCH, new byte[10]);
    }

    // ---- after a crash

    void restart() {
      isAlive = false;
      life = 0;
    }

    /** Any turn that was not confirmed may be there, with all before it. */
    void read(Store store) {
      var loaded = store.load(id);
      assertTrue(confirmed <= loaded.lastTurn() && loaded.lastTurn() <= last,
          () -> id + " has turn " + loaded.lastTurn() + ", confirmed is " + confirmed + ", sent " + last);
      last = loaded.lastTurn();
      confirmed = last;
      for (var one : messages.values()) if (one.doneBy > last) one.doneBy = 0;
      messages.values().removeIf(one -> one.from == null && !one.isSure && one.doneBy == 0
          && !loaded.pendingIds().contains(name(one)));
      for (var one : messages.values()) one.isSure |= one.from == null;
      store.endLife(id, loaded.life());
    }

    private String name(Message message) {
      return messages.entrySet().stream().filter(one -> one.getValue() == message).findFirst().orElseThrow().getKey();
    }

    /** When the last turns of all are known. */
    void settle() {
      messages.values().removeIf(one -> one.from != null && one.turn > one.from.last);
    }

    void check(Store store) {
      var loaded = store.load(id);
      assertEquals(last, loaded.lastTurn(), id::toString);
      var waiting = new TreeSet<String>();
      messages.forEach((name, one) -> {
        if (one.doneBy == 0) waiting.add(name);
      });
      assertEquals(waiting, new TreeSet<>(loaded.pendingIds()), () -> "what waits for " + id);
      store.endLife(id, loaded.life());
    }
  }

  private static Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }
}
