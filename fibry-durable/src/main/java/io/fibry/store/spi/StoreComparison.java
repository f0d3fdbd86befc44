package io.fibry.store.spi;

import io.fibry.store.Store.ActorId;
import io.fibry.store.spi.StoreBackend.PendingMessage;
import io.fibry.store.spi.StoreBackend.StoredTurn;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares the actors of two stores. Turns that a later full-state turn has replaced may be missing
 * in the target. The comparison also finds the offsets that views of the source must have in the
 * target. Used by one thread.
 */
final class StoreComparison {
  /** Identifies a turn of any actor of one kind. */
  private record TurnKey(String key, long number) {}

  /** Reads the turns of a history one by one. Skips turns that the history returns again. */
  private static final class TurnIterator implements AutoCloseable {
    private final StoreBackend.History history;
    private final ArrayDeque<StoredTurn> page = new ArrayDeque<>();
    private final Map<String, Long> lastNumbers = new HashMap<>(); // by key: the number of the last turn

    TurnIterator(StoreBackend.History history) {
      this.history = history;
    }

    /** Returns the next turn, or null if no more are stored. */
    StoredTurn peek() throws InterruptedException {
      while (true) {
        if (page.isEmpty()) page.addAll(history.poll());
        var turn = page.peek();
        if (turn == null || turn.number() > lastNumbers.getOrDefault(turn.key(), 0L)) return turn;
        page.remove(); // the history has returned this turn before
      }
    }

    void next() {
      var turn = page.remove();
      lastNumbers.put(turn.key(), turn.number());
    }

    @Override
    public void close() {
      history.close();
    }
  }

  private final StoreBackend source;
  private final StoreBackend target;
  private final Map<String, List<ActorId>> actors; // by kind
  private final List<ViewOffset> views;

  StoreComparison(StoreBackend source, StoreBackend target, Map<String, List<ActorId>> actors, List<ViewOffset> views) {
    this.source = source;
    this.target = target;
    this.actors = actors;
    this.views = views;
  }

  /**
   * Compares the stores, and returns the offsets of the views in the target. Throws an exception if
   * the stores differ.
   */
  Map<ViewOffset, String> run() throws InterruptedException {
    var offsets = new LinkedHashMap<ViewOffset, String>();
    for (var view : views) offsets.put(view, "");
    for (var kind : actors.keySet()) {
      for (var id : actors.get(kind)) compare(id);
      compareHistories(kind, offsets);
    }
    return offsets;
  }

  private void compare(ActorId id) {
    var original = read(source, id);
    var copy = read(target, id);
    if (original.lastTurn() != copy.lastTurn()
        || !Arrays.deepEquals(original.bodies().toArray(), copy.bodies().toArray()))
      throw differs(id.toString(), "its turns");
    var messages = source.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE);
    var copiedMessages = target.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE);
    if (messages.size() != copiedMessages.size()) throw differs(id.toString(), "its pending messages");
    for (int i = 0; i < messages.size(); i++)
      if (!isSame(messages.get(i), copiedMessages.get(i))) throw differs(id.toString(), "its pending messages");
  }

  /** Reads the stored turns of an actor that is not in use. */
  static StoreBackend.LoadedActor read(StoreBackend store, ActorId id) {
    var loaded = store.load(id);
    store.endLife(id, loaded.life());
    return loaded;
  }

  private static boolean isSame(PendingMessage first, PendingMessage second) {
    return first.id().equals(second.id()) && first.due().toEpochMilli() == second.due().toEpochMilli()
        && Arrays.equals(first.body(), second.body());
  }

  private IllegalStateException differs(String subject, String detail) {
    return new IllegalStateException(subject + " is not the same at " + source + " and at " + target + ": " + detail
        + " differ. Was it in use meanwhile? Copy again into an empty store");
  }

  // ---- history

  private void compareHistories(String kind, Map<ViewOffset, String> offsets) throws InterruptedException {
    var firstUnread = new HashMap<ViewOffset, TurnKey>(); // by view: the first turn that it has not read
    for (var view : views) if (view.kind().equals(kind)) firstUnread.put(view, firstUnread(view));
    // The last turn that the target lacks, by key, if no later turn replaced it.
    var missing = new HashMap<String, Long>();
    String offset = "";
    try (var sourceTurns = new TurnIterator(source.history(kind, ""));
        var targetTurns = new TurnIterator(target.history(kind, ""))) {
      for (var turn = sourceTurns.peek(); turn != null; turn = sourceTurns.peek()) {
        var turnKey = new TurnKey(turn.key(), turn.number());
        for (var view : firstUnread.keySet()) if (turnKey.equals(firstUnread.get(view))) offsets.put(view, offset);
        firstUnread.values().removeIf(turnKey::equals);
        var copy = targetTurns.peek();
        if (copy != null && isSame(turn, copy)) {
          offset = copy.offset();
          if (turn.isFullState()) missing.remove(turn.key());
          targetTurns.next();
        } else missing.put(turn.key(), turn.number());
        sourceTurns.next();
      }
      if (targetTurns.peek() != null || !missing.isEmpty())
        throw differs("kind '" + kind + "'", "turns of its history");
    }
    for (var view : firstUnread.keySet()) offsets.put(view, offset);
  }

  private static boolean isSame(StoredTurn first, StoredTurn second) {
    return first.key().equals(second.key()) && first.number() == second.number()
        && first.isFullState() == second.isFullState() && first.at().toEpochMilli() == second.at().toEpochMilli()
        && Arrays.equals(first.body(), second.body());
  }

  /**
   * Returns the key of the first turn that a view has not read. If the view has read all turns,
   * returns a key that no turn has.
   */
  private TurnKey firstUnread(ViewOffset view) throws InterruptedException {
    try (var history = source.history(view.kind(), view.offset())) {
      var turns = history.poll();
      return turns.isEmpty() ? new TurnKey("", 0) : new TurnKey(turns.getFirst().key(), turns.getFirst().number());
    }
  }
}
