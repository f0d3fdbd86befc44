package io.fibry.nats;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Histories;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Tests histories that are read from stale replicas, while turns are stored and purged. */
class ReplicasTest {
  private static final int STEPS = Soak.ON ? 2_000 : 800;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final ReplicatedStream replicas = new ReplicatedStream(seed);
  private final StoreBackend store = replicas.open(options -> options).store();

  private static List<Long> numbers(List<StoreBackend.StoredTurn> turns) {
    return turns.stream().map(StoreBackend.StoredTurn::number).toList();
  }

  private static List<StoreBackend.StoredTurn> readRemainder(StoreBackend.History history) throws InterruptedException {
    var remainder = new ArrayList<StoreBackend.StoredTurn>();
    for (var page = history.poll(); !page.isEmpty(); page = history.poll()) remainder.addAll(page);
    return remainder;
  }

  /** Waits until the store has only the last turn, which has replaced all earlier turns. */
  private void endLifeAndAwaitPurge(long life) {
    store.endLife(ADA, life);
    Patience.eventually(() -> replicas.messages(new StoreSubjects("replicas").turns(ADA)) == 1);
  }

  /** The first page has turns that are replaced before the second page is read. */
  @Test
  void historyOmitsReplacedTurnsPurgedBetweenPages() throws InterruptedException {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 29; i++) append(store, turn(ADA, life, i));
    try (var history = store.history("account", "")) {
      var turns = new ArrayList<>(history.poll());
      append(store, turn(ADA, life, 30, true, (byte) 30));
      endLifeAndAwaitPurge(life);
      replicas.resumeReplicas();
      turns.addAll(readRemainder(history));

      assertEquals(30, turns.getLast().number());
      assertTrue(turns.size() <= 5, () -> numbers(turns).toString());
      Histories.check("account", turns);
    }
  }

  /**
   * A stale replica returns old turns. The other turns come from the leader, which has purged the
   * replaced turns.
   */
  @Test
  void historyMayContainReplacedTurnsFromStaleReplica() throws InterruptedException {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 5; i++) append(store, turn(ADA, life, i));
    replicas.stopReplicas();
    for (int i = 6; i <= 29; i++) append(store, turn(ADA, life, i));
    append(store, turn(ADA, life, 30, true, (byte) 30));
    endLifeAndAwaitPurge(life);
    try (var history = store.history("account", "")) {
      var turns = readRemainder(history);

      assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 30L), numbers(turns));
      Histories.check("account", turns);
    }
  }

  /**
   * The last turn of each actor replaces two earlier turns. Half of the answers to the purges are
   * lost.
   */
  @RepeatedTest(3)
  void purgeWithoutAnswerIsRepeated() {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var lives = appendTwoTurnsEach();
    replicas.loseAnswers(50);
    lives.forEach(this::endActor);

    assertPurged(lives.keySet());
  }

  /**
   * The offset of a view passes the last turns of all actors in one step, and never changes again.
   */
  @RepeatedTest(3)
  void purgeWithoutAnswerIsRepeatedAfterViewPassesTurns() throws InterruptedException {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var view = new ViewOffset("account", "view", "").actor();
    long lifeOfView = store.load(view).life();
    append(store, turn(view, lifeOfView, 1, true, new ViewOffset("account", "view", "").body()));
    var lives = appendTwoTurnsEach();
    lives.forEach(this::endActor);
    try (var history = store.history("account", "")) {
      var lastTurn = readRemainder(history).getLast();
      replicas.loseAnswers(50);
      append(store, turn(view, lifeOfView, 2, true, new ViewOffset("account", "view", lastTurn.offset()).body()));
    }

    assertPurged(lives.keySet());
  }

  private Map<Store.ActorId, Long> appendTwoTurnsEach() {
    var lives = new HashMap<Store.ActorId, Long>();
    for (int i = 0; i < 8; i++) {
      var id = new Store.ActorId("account", "a" + i);
      lives.put(id, store.load(id).life());
      for (int number = 1; number <= 2; number++) append(store, turn(id, lives.get(id), number));
    }
    return lives;
  }

  /** Ends the actor with its third turn. */
  private void endActor(Store.ActorId id, long life) {
    store.end(turn(id, life, 3, true, (byte) 3)).toCompletableFuture().join();
  }

  private void assertPurged(Collection<Store.ActorId> actors) {
    var subjects = new StoreSubjects("replicas");
    Patience.eventually(() -> actors.stream().allMatch(id -> replicas.messages(subjects.turns(id)) == 1));
  }

  /** Two programs store turns and one of them reads histories, while leaders change. */
  @RepeatedTest(5)
  void historiesStayCorrectWhileLeadersChange() throws InterruptedException {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var stores = List.of(store, replicas.open(options -> options).store());
    replicas.loseAnswers(2);
    var lives = new HashMap<Store.ActorId, Life>();
    var states = new ArrayList<StoreBackend.StoredTurn>();
    var events = new ArrayList<StoreBackend.StoredTurn>();
    try (var stateHistory = store.history("state", ""); var eventHistory = store.history("event", "")) {
      for (int i = 0; i < STEPS; i++) {
        var id = new Store.ActorId(random.nextBoolean() ? "state" : "event", "k" + random.nextInt(3));
        switch (random.nextInt(20)) {
          case 0 -> endLife(lives.remove(id), id);
          case 1, 2 -> states.addAll(stateHistory.poll());
          case 3, 4 -> events.addAll(eventHistory.poll());
          default -> {
            if (!lives.containsKey(id)) lives.put(id, Life.begin(stores.get(random.nextInt(2)), id));
            boolean isWhole = id.kind().equals("state") && random.nextInt(30) == 0;
            if (!lives.get(id).append(id, isWhole)) lives.remove(id);
          }
        }
      }
      replicas.loseAnswers(0);
      states.addAll(readRemainder(stateHistory));
      events.addAll(readRemainder(eventHistory));
    }

    Histories.check("state", states);
    Histories.check(store, "state");
    Histories.check("event", events);
    Map<String, List<Long>> numbersByKey = new HashMap<>();
    for (var event : events) numbersByKey.computeIfAbsent(event.key(), key -> new ArrayList<>()).add(event.number());
    numbersByKey.forEach((key, numbers) -> { // events are never replaced, so a history has all events
      long lastNumber = store.load(new Store.ActorId("event", key)).lastTurn();
      assertEquals(LongStream.rangeClosed(1, lastNumber).boxed().toList(), numbers, key);
    });
  }

  private static void endLife(Life life, Store.ActorId id) {
    if (life != null) life.store.endLife(id, life.number);
  }

  /** A life of an actor in one of the stores. The other store may begin the next life. */
  private static final class Life {
    private final StoreBackend store;
    private final long number;
    private long lastTurn;

    private Life(StoreBackend store, long number, long lastTurn) {
      this.store = store;
      this.number = number;
      this.lastTurn = lastTurn;
    }

    static Life begin(StoreBackend store, Store.ActorId id) {
      // loads again until a leader is elected
      var loaded = Patience.valueDespite(StoreUnconfirmedException.class, () -> store.load(id));
      return new Life(store, loaded.life(), loaded.lastTurn());
    }

    /**
     * Appends the next turn. Returns false if the turn was refused or not confirmed; the caller
     * then begins another life.
     */
    boolean append(Store.ActorId id, boolean isWhole) {
      try {
        store.append(new StoreBackend.Turn(id, number, ++lastTurn, Instant.EPOCH, isWhole, new byte[] {(byte) lastTurn},
            List.of(), List.of())).toCompletableFuture().join();
        return true;
      } catch (CompletionException failure) {
        if (failure.getCause() instanceof StoreException) return false;
        throw failure;
      }
    }
  }
}
