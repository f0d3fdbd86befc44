package io.fibry.nats;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Histories;
import io.fibry.store.Store;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreException;
import io.fibry.store.ViewOffset;
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

/** Histories that are read from replicas which are behind, while turns are stored and purged. */
class ReplicasTest {
  private static final int STEPS = Soak.ON ? 2_000 : 800;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Replicas replicas = new Replicas(seed);
  private final Store store = replicas.open(options -> options).store();

  private static List<Long> numbers(List<Store.StoredTurn> turns) {
    return turns.stream().map(Store.StoredTurn::number).toList();
  }

  private static List<Store.StoredTurn> rest(Store.History history) throws InterruptedException {
    var all = new ArrayList<Store.StoredTurn>();
    for (var page = history.poll(); !page.isEmpty(); page = history.poll()) all.addAll(page);
    return all;
  }

  /** The last turn has replaced all before. */
  private void leaveAndPurge(long life) {
    store.endLife(ADA, life);
    Patience.eventually(() -> replicas.messages(new StoreSubjects("replicas").turns(ADA)) == 1);
  }

  /** The first page has turns that the second one replaced. */
  @Test
  void purgeBetweenPagesOmitsReplacedTurns() throws InterruptedException {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 29; i++) append(store, turn(ADA, life, i));
    try (var history = store.history("account", "")) {
      var read = new ArrayList<>(history.poll());
      append(store, turn(ADA, life, 30, true, (byte) 30));
      leaveAndPurge(life);
      replicas.letReplicasGo();
      read.addAll(rest(history));

      assertEquals(30, read.getLast().number());
      assertTrue(read.size() <= 5, () -> numbers(read).toString());
      Histories.check("account", read);
    }
  }

  /** The second page is of a leader that has purged, the first one of a replica that has not. */
  @Test
  void pageOfStaleReplicaHasReplacedTurns() throws InterruptedException {
    long life = store.load(ADA).life();
    for (int i = 1; i <= 5; i++) append(store, turn(ADA, life, i));
    replicas.holdReplicas();
    for (int i = 6; i <= 29; i++) append(store, turn(ADA, life, i));
    append(store, turn(ADA, life, 30, true, (byte) 30));
    leaveAndPurge(life);
    try (var history = store.history("account", "")) {
      var read = rest(history);

      assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 30L), numbers(read));
      Histories.check("account", read);
    }
  }

  /** The last turn of each actor replaced two. Half of the answers to their purges are lost. */
  @RepeatedTest(3)
  void purgeWithoutAnswerIsRepeated() {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var lives = appendTwoTurnsEach();
    replicas.loseAnswers(50);
    lives.forEach(this::end);

    assertPurged(lives.keySet());
  }

  /** A view passes the last turns of all actors at once, and never moves again. */
  @RepeatedTest(3)
  void purgeBehindAViewIsRepeated() throws InterruptedException {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var view = new ViewOffset("account", "view", "").actor();
    long lifeOfView = store.load(view).life();
    append(store, turn(view, lifeOfView, 1, true, new ViewOffset("account", "view", "").body()));
    var lives = appendTwoTurnsEach();
    lives.forEach(this::end);
    try (var history = store.history("account", "")) {
      var last = rest(history).getLast();
      replicas.loseAnswers(50);
      append(store, turn(view, lifeOfView, 2, true, new ViewOffset("account", "view", last.offset()).body()));
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

  /** The third turn erases an actor. */
  private void end(Store.ActorId id, long life) {
    store.end(turn(id, life, 3, true, (byte) 3)).toCompletableFuture().join();
  }

  private void assertPurged(Collection<Store.ActorId> actors) {
    var subjects = new StoreSubjects("replicas");
    Patience.eventually(() -> actors.stream().allMatch(id -> replicas.messages(subjects.turns(id)) == 1));
  }

  /** Two programs store, one reads; leaders change meanwhile. */
  @RepeatedTest(5)
  void historiesStayCorrectWhileLeadersChange() throws InterruptedException {
    System.out.println("replicas: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var stores = List.of(store, replicas.open(options -> options).store());
    replicas.loseAnswers(2);
    var lives = new HashMap<Store.ActorId, Life>();
    var states = new ArrayList<Store.StoredTurn>();
    var events = new ArrayList<Store.StoredTurn>();
    try (var ofStates = store.history("state", ""); var ofEvents = store.history("event", "")) {
      for (int i = 0; i < STEPS; i++) {
        var id = new Store.ActorId(random.nextBoolean() ? "state" : "event", "k" + random.nextInt(3));
        switch (random.nextInt(20)) {
          case 0 -> leave(lives.remove(id), id);
          case 1, 2 -> states.addAll(ofStates.poll());
          case 3, 4 -> events.addAll(ofEvents.poll());
          default -> {
            if (!lives.containsKey(id)) lives.put(id, Life.begin(stores.get(random.nextInt(2)), id));
            boolean whole = id.kind().equals("state") && random.nextInt(30) == 0;
            if (!lives.get(id).appends(id, whole)) lives.remove(id);
          }
        }
      }
      replicas.loseAnswers(0);
      states.addAll(rest(ofStates));
      events.addAll(rest(ofEvents));
    }

    Histories.check("state", states);
    Histories.check(store, "state");
    Histories.check("event", events);
    Map<String, List<Long>> byKey = new HashMap<>();
    for (var one : events) byKey.computeIfAbsent(one.key(), none -> new ArrayList<>()).add(one.number());
    byKey.forEach((key, all) -> { // of events none is ever replaced, so a view sees each
      long last = store.load(new Store.ActorId("event", key)).lastTurn();
      assertEquals(LongStream.rangeClosed(1, last).boxed().toList(), all, key);
    });
  }

  private static void leave(Life life, Store.ActorId id) {
    if (life != null) life.store.endLife(id, life.number);
  }

  /** A life of an actor in a store; another store may begin another life meanwhile. */
  private static final class Life {
    private final Store store;
    private final long number;
    private long last; // turn

    private Life(Store store, long number, long last) {
      this.store = store;
      this.number = number;
      this.last = last;
    }

    static Life begin(Store store, Store.ActorId id) {
      while (true) try {
        var loaded = store.load(id);
        return new Life(store, loaded.life(), loaded.lastTurn());
      } catch (StoreBusyException unknown) {
        // a leader is elected
      }
    }

    /** Returns false if the life is over. */
    boolean appends(Store.ActorId id, boolean whole) {
      try {
        store.append(new Store.Turn(id, number, ++last, Instant.EPOCH, whole, new byte[] {(byte) last}, List.of(),
            List.of())).toCompletableFuture().join();
        return true;
      } catch (CompletionException refused) {
        if (refused.getCause() instanceof StoreException) return false;
        throw refused;
      }
    }
  }
}
