package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
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
 * Threads begin lives of actors in a folder store, store turns and messages of these lives, and end
 * the lives. Meanwhile one thread lists all actors, and the store moves records to other files. The
 * machine crashes a few times. After each crash, everything that the store had confirmed must
 * exist. Each turn exists with its effects and its messages, or not at all.
 */
final class InactiveActorsRound {
  private static final int SEGMENT = 4_096; // the minimum, so that the log needs many segments
  private static final int ACTORS = 5;
  private static final int THREADS = 3;
  private static final int LIVES = 25; // lives that a thread begins between two crashes
  private static final Duration MAX_WAIT = Duration.ofMinutes(10);

  /** A message for an actor. */
  private static final class Message {
    private final ActorModel sender; // null if the message was sent from outside
    private final long turn; // the sender's turn, which sends the message
    private boolean isConfirmed; // whether the store has confirmed the message
    private long handledBy; // the turn of the receiver that handles it, or 0

    Message(ActorModel sender, long turn) {
      this.sender = sender;
      this.turn = turn;
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final List<ActorModel> actors = IntStream.range(0, ACTORS).mapToObj(ActorModel::new).toList();
  private SimulatedNode node;
  private int activeThreads; // threads that have not ended
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
    simulation.assertEventually("all is checked", MAX_WAIT, () -> isOver);
  }

  private void start(boolean isLast) {
    for (var actor : actors) actor.restart();
    var currentNode = node;
    currentNode.start("open", () -> {
      var store =
          StoreBackend.of(FolderStore.open(currentNode.disk(), options -> options.withSegmentBytes(SEGMENT)));
      settle(store);
      activeThreads = THREADS;
      for (int i = 0; i < THREADS; i++) {
        var threadRandom = random.split();
        currentNode.start("actors" + i, () -> runLives(store, threadRandom));
      }
      list(store);
      if (!isLast) return null;
      check(store);
      store.close();
      try (var reopened = FolderStore.open(currentNode.disk(), options -> options.withSegmentBytes(SEGMENT))) {
        check(StoreBackend.of(reopened));
      }
      isOver = true;
      return null;
    });
  }

  private Object runLives(StoreBackend store, SplittableRandom threadRandom) {
    for (int i = 0; i < LIVES; i++)
      actors.get(threadRandom.nextInt(ACTORS)).runLife(store, threadRandom, actors.get(threadRandom.nextInt(ACTORS)));
    return --activeThreads;
  }

  /** Lists all actors while threads work. An actor that was listed once must be listed again. */
  private void list(StoreBackend store) throws InterruptedException {
    var listed = Set.<Store.ActorId>of();
    while (activeThreads > 0) {
      var current = new HashSet<Store.ActorId>();
      store.forEachActor(id -> assertTrue(current.add(id), id + " was listed twice"));
      assertTrue(current.containsAll(listed), () -> "not all are listed: " + current);
      listed = current;
      Thread.sleep(1);
    }
  }

  private void settle(StoreBackend store) {
    for (var actor : actors) actor.read(store);
    for (var actor : actors) actor.settle();
    check(store);
  }

  private void check(StoreBackend store) {
    for (var actor : actors) actor.check(store);
  }

  /** The expected state of an actor. One thread at a time uses it; any thread sends to it. */
  private final class ActorModel {
    private final Store.ActorId id;
    private final Map<String, Message> messages = new TreeMap<>(); // messages to the actor, by id
    private boolean isAlive;
    private long life; // the previous life, or 0 if there was none since the machine was started
    private long lastTurn; // the number of the last turn
    private long confirmedTurn; // the number of the last confirmed turn
    private int sentCount; // messages sent to the actor

    ActorModel(int number) {
      id = new Store.ActorId("account", "a" + number);
    }

    // ---- lives

    void runLife(StoreBackend store, SplittableRandom threadRandom, ActorModel receiver) {
      if (threadRandom.nextInt(4) == 0) enqueueMessage(store);
      if (isAlive) return;
      isAlive = true;
      var loaded = store.load(id);
      assertEquals(lastTurn, loaded.lastTurn(), id::toString);
      assertTrue(loaded.life() != life, "the same life again");
      if (life > 0) assertInstanceOf(StaleLifeException.class,
          failure(store.append(turn(lastTurn + 1, false, List.of(), List.of())).toCompletableFuture()));
      life = loaded.life();
      var handledIds = loaded.pendingIds().stream().filter(id -> threadRandom.nextBoolean()).toList();
      CompletableFuture<Void> stored = CompletableFuture.completedFuture(null);
      for (int turns = threadRandom.nextInt(4); turns > 0; turns--) {
        stored = store.append(next(threadRandom, handledIds, receiver)).toCompletableFuture();
        handledIds = List.of();
      }
      if (lastTurn > 0 && threadRandom.nextInt(8) == 0) store.snapshot(turn(lastTurn, true, List.of(), List.of()));
      if (threadRandom.nextBoolean()) stored.join();
      if (threadRandom.nextInt(5) > 0) store.endLife(id, life);
      stored.join();
      confirmedTurn = lastTurn;
      isAlive = false;
    }

    private StoreBackend.Turn next(SplittableRandom threadRandom, List<String> handledIds, ActorModel receiver) {
      long number = ++lastTurn;
      for (var message : handledIds) messages.get(message).handledBy = number;
      var outbox =
          threadRandom.nextInt(6) == 0 ? List.of(receiver.message(new Message(this, number)))
              : List.<StoreBackend.PendingMessage>of();
      return turn(number, threadRandom.nextInt(3) > 0, handledIds, outbox);
    }

    private StoreBackend.Turn turn(long number, boolean isFullState, List<String> handledIds,
        List<StoreBackend.PendingMessage> outbox) {
      return new StoreBackend.Turn(id, life, number, Instant.EPOCH, isFullState, new byte[40], handledIds, outbox);
    }

    private void enqueueMessage(StoreBackend store) {
      var message = new Message(null, 0);
      assertTrue(store.enqueue(message(message), Integer.MAX_VALUE).toCompletableFuture().join());
      message.isConfirmed = true;
    }

    private StoreBackend.PendingMessage message(Message message) {
      String name = "m" + ++sentCount;
      messages.put(name, message);
      return new StoreBackend.PendingMessage(id, name, Instant.EPOCH, new byte[10]);
    }

    // ---- after a crash

    void restart() {
      isAlive = false;
      life = 0;
    }

    /** Reads the state after a crash: any unconfirmed turn may exist, with all turns before it. */
    void read(StoreBackend store) {
      var loaded = store.load(id);
      assertTrue(confirmedTurn <= loaded.lastTurn() && loaded.lastTurn() <= lastTurn,
          () -> id + " has turn " + loaded.lastTurn() + ", confirmed is " + confirmedTurn + ", sent " + lastTurn);
      lastTurn = loaded.lastTurn();
      confirmedTurn = lastTurn;
      for (var message : messages.values()) if (message.handledBy > lastTurn) message.handledBy = 0;
      messages.values().removeIf(message -> message.sender == null && !message.isConfirmed && message.handledBy == 0
          && !loaded.pendingIds().contains(name(message)));
      for (var message : messages.values()) message.isConfirmed |= message.sender == null;
      store.endLife(id, loaded.life());
    }

    private String name(Message message) {
      return messages.entrySet().stream().filter(entry -> entry.getValue() == message).findFirst().orElseThrow()
          .getKey();
    }

    /**
     * Removes messages of turns that were lost. Called when the last turns of all actors are known.
     */
    void settle() {
      messages.values().removeIf(message -> message.sender != null && message.turn > message.sender.lastTurn);
    }

    void check(StoreBackend store) {
      var loaded = store.load(id);
      assertEquals(lastTurn, loaded.lastTurn(), id::toString);
      var pendingIds = new TreeSet<String>();
      messages.forEach((name, message) -> {
        if (message.handledBy == 0) pendingIds.add(name);
      });
      assertEquals(pendingIds, new TreeSet<>(loaded.pendingIds()), () -> "pending messages of " + id);
      store.endLife(id, loaded.life());
    }
  }

  private static Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }
}
