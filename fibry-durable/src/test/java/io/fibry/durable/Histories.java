package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.Store.StoredTurn;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Checks the history of a kind, at every store, against the sentences of {@link Store#history},
 * which it cites where one is broken. It is for kinds whose old turns are not forgotten by age.
 */
public final class Histories {
  private static final String ORDER = "\"Those of one actor have its order\"";
  private static final String AGAIN = "\"now and then, such as after a crash, a turn comes again\": the same turn";
  private static final String REPLACED =
      "\"Turns that a later whole one replaced may be left out\", and no later whole one comes";
  private static final String LAST = "\"Each turn comes\", up to the last one that is stored";

  /** The turns of one actor, as far as they have come. */
  private static final class Line {
    private final String actor;
    private final TreeMap<Long, StoredTurn> turns = new TreeMap<>(); // by number
    private boolean whole = true; // no turn is missing behind the last whole one

    Line(String actor) {
      this.actor = actor;
    }

    long last() {
      return turns.isEmpty() ? 0 : turns.lastKey();
    }

    void add(StoredTurn turn) {
      var known = turns.get(turn.number());
      if (known != null) assertSame(known, turn);
      else assertTrue(turn.number() > last(), () -> "turn " + turn.number() + " comes after " + last() + rule(ORDER));
      if (turn.number() > last() + 1) whole = false;
      if (turn.isFullState() && turn.number() >= last()) whole = true;
      turns.put(turn.number(), turn);
    }

    private void assertSame(StoredTurn known, StoredTurn again) {
      assertEquals(known.at(), again.at(), () -> "turn " + again.number() + rule(AGAIN));
      assertEquals(known.isFullState(), again.isFullState(), () -> "turn " + again.number() + rule(AGAIN));
      assertArrayEquals(known.body(), again.body(), () -> "turn " + again.number() + rule(AGAIN));
    }

    void end() {
      assertTrue(whole, () -> "only turns " + turns.keySet() + " have come" + rule(REPLACED));
    }

    /** A store loads the last whole turn or a snapshot, and then the turns behind it. */
    void end(Store.LoadedActor loaded) {
      assertEquals(loaded.lastTurn(), last(), () -> "the last turn" + rule(LAST));
      var bodies = loaded.bodies();
      for (int i = 1; i < bodies.size(); i++) {
        long number = loaded.lastTurn() - bodies.size() + 1 + i;
        assertArrayEquals(bodies.get(i), turns.get(number).body(), () -> "turn " + number + " of " + actor);
      }
    }

    private String rule(String sentence) {
      return " of " + actor + "; Store.history: " + sentence;
    }
  }

  private Histories() {}

  /** Reads all turns of a kind that are stored. */
  public static List<StoredTurn> read(Store store, String kind) throws InterruptedException {
    var all = new ArrayList<StoredTurn>();
    try (var history = store.history(kind, "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll()) all.addAll(page);
    }
    return all;
  }

  /**
   * Checks a history that was read from its beginning to its end, while turns were stored, purged
   * or rewritten. A gap is legal if a whole turn of that actor comes at its end or later.
   */
  public static void check(String kind, List<StoredTurn> turns) {
    lines(kind, turns).values().forEach(Line::end);
  }

  private static TreeMap<String, Line> lines(String kind, List<StoredTurn> turns) {
    var lines = new TreeMap<String, Line>();
    for (var turn : turns)
      lines.computeIfAbsent(turn.key(), key -> new Line(new Store.ActorId(kind, key).toString())).add(turn);
    return lines;
  }

  /**
   * Reads the history of a kind while its actors store nothing, checks it, and compares it with
   * what the store loads. That begins a life of each actor, so an actor that lives reads its state
   * again.
   *
   * @return the turns
   */
  public static List<StoredTurn> check(Store store, String kind) throws InterruptedException {
    var turns = read(store, kind);
    var lines = lines(kind, turns);
    lines.values().forEach(Line::end);
    store.forEachActor(id -> {
      if (id.kind().equals(kind)) lines.computeIfAbsent(id.key(), none -> new Line(id.toString()));
    });
    lines.forEach((key, line) -> {
      var id = new Store.ActorId(kind, key);
      var loaded = store.load(id);
      store.endLife(id, loaded.life());
      line.end(loaded);
    });
    return turns;
  }
}
