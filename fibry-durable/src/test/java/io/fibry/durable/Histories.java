package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.StoreBackend.StoredTurn;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Checks the history of a kind, with every store, against the sentences of
 * {@link StoreBackend#history} and {@link StoreBackend.History}. A failure cites the broken
 * sentence. The kind must not let the store remove old turns by age.
 */
public final class Histories {
  private static final String ORDER = "\"The turns of each actor come in the order of their numbers\"";
  private static final String AGAIN = "\"A turn may come again\", but must then be the same turn";
  private static final String REPLACED =
      "\"Turns that a later full-state turn replaced may be left out\", but no full-state turn follows the gap";
  private static final String LAST = "\"Reads the turns of a kind\", up to the last stored turn";

  /** The turns of one actor that were read so far. */
  private static final class ActorTurns {
    private final String actor;
    private final TreeMap<Long, StoredTurn> turns = new TreeMap<>(); // by number
    private boolean isComplete = true; // no turn is missing after the last full-state turn

    ActorTurns(String actor) {
      this.actor = actor;
    }

    long last() {
      return turns.isEmpty() ? 0 : turns.lastKey();
    }

    void add(StoredTurn turn) {
      var known = turns.get(turn.number());
      if (known != null) assertSame(known, turn);
      else assertTrue(turn.number() > last(), () -> "turn " + turn.number() + " comes after " + last() + rule(ORDER));
      if (turn.number() > last() + 1) isComplete = false;
      if (turn.isFullState() && turn.number() >= last()) isComplete = true;
      turns.put(turn.number(), turn);
    }

    private void assertSame(StoredTurn known, StoredTurn repeated) {
      assertEquals(known.at(), repeated.at(), () -> "turn " + repeated.number() + rule(AGAIN));
      assertEquals(known.isFullState(), repeated.isFullState(), () -> "turn " + repeated.number() + rule(AGAIN));
      assertArrayEquals(known.body(), repeated.body(), () -> "turn " + repeated.number() + rule(AGAIN));
    }

    void checkComplete() {
      assertTrue(isComplete, () -> "only turns " + turns.keySet() + rule(REPLACED));
    }

    /**
     * Compares the number of the last turn, and all loaded bodies except the first, with the turns
     * that were read. The first body may be a snapshot.
     */
    void checkLoaded(StoreBackend.LoadedActor loaded) {
      assertEquals(loaded.lastTurn(), last(), () -> "the last turn" + rule(LAST));
      var bodies = loaded.bodies();
      for (int i = 1; i < bodies.size(); i++) {
        long number = loaded.lastTurn() - bodies.size() + 1 + i;
        assertArrayEquals(bodies.get(i), turns.get(number).body(), () -> "turn " + number + " of " + actor);
      }
    }

    private String rule(String sentence) {
      return " of " + actor + "; Javadoc of Store.history: " + sentence;
    }
  }

  private Histories() {}

  /** Reads all turns of a kind that are stored. */
  public static List<StoredTurn> read(Store store, String kind) throws InterruptedException {
    var turns = new ArrayList<StoredTurn>();
    try (var history = StoreBackend.of(store).history(kind, "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll()) turns.addAll(page);
    }
    return turns;
  }

  /**
   * Checks a history that was read from its beginning to its end, while turns were stored, purged
   * or rewritten. A gap is allowed if a full-state turn of that actor follows it.
   */
  public static void check(String kind, List<StoredTurn> turns) {
    turnsByActor(kind, turns).values().forEach(ActorTurns::checkComplete);
  }

  private static TreeMap<String, ActorTurns> turnsByActor(String kind, List<StoredTurn> turns) {
    var turnsByKey = new TreeMap<String, ActorTurns>();
    for (var turn : turns)
      turnsByKey.computeIfAbsent(turn.key(), key -> new ActorTurns(new Store.ActorId(kind, key).toString())).add(turn);
    return turnsByKey;
  }

  /**
   * Reads the history of a kind while its actors store nothing, checks it, and compares it with
   * the turns that the store loads. Each load begins a life of the actor, so a running actor reads
   * its state again.
   *
   * @return the turns
   */
  public static List<StoredTurn> check(Store store, String kind) throws InterruptedException {
    var backend = StoreBackend.of(store);
    var turns = read(store, kind);
    var turnsByKey = turnsByActor(kind, turns);
    turnsByKey.values().forEach(ActorTurns::checkComplete);
    store.forEachActor(id -> {
      if (id.kind().equals(kind)) turnsByKey.computeIfAbsent(id.key(), k -> new ActorTurns(id.toString()));
    });
    turnsByKey.forEach((key, actorTurns) -> {
      var id = new Store.ActorId(kind, key);
      var loaded = backend.load(id);
      backend.endLife(id, loaded.life());
      actorTurns.checkLoaded(loaded);
    });
    return turns;
  }
}
