package io.fibry.store;

import io.fibry.store.Store.ActorId;
import io.fibry.store.Store.PendingMessage;
import io.fibry.store.Store.StoredTurn;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether two stores have the same actors. Turns that a later whole one has replaced may be missing
 * in the second. On the way it finds out where views of the first stand in the second. Used by one
 * thread.
 */
final class StoreComparison {
  /** A turn of an actor of one kind. */
  private record TurnKey(String key, long number) {}

  /** The turns of a history, one by one; each once. */
  private static final class TurnIterator implements AutoCloseable {
    private final Store.History history;
    private final ArrayDeque<StoredTurn> page = new ArrayDeque<>();
    private final Map<String, Long> seen = new HashMap<>(); // the last number, by key

    TurnIterator(Store.History history) {
      this.history = history;
    }

    /** Returns null if there is none. */
    StoredTurn peek() throws InterruptedException {
      while (true) {
        if (page.isEmpty()) page.addAll(history.poll());
        var first = page.peek();
        if (first == null || first.number() > seen.getOrDefault(first.key(), 0L)) return first;
        page.remove(); // it came again
      }
    }

    void next() {
      var past = page.remove();
      seen.put(past.key(), past.number());
    }

    @Override
    public void close() {
      history.close();
    }
  }

  private final Store from;
  private final Store to;
  private final Map<String, List<ActorId>> actors; // by kind
  private final List<ViewOffset> views;

  StoreComparison(Store from, Store to, Map<String, List<ActorId>> actors, List<ViewOffset> views) {
    this.from = from;
    this.to = to;
    this.actors = actors;
    this.views = views;
  }

  /** Returns the places of views in the second store. */
  Map<ViewOffset, String> run() throws InterruptedException {
    var places = new LinkedHashMap<ViewOffset, String>();
    for (var view : views) places.put(view, "");
    for (var kind : actors.keySet()) {
      for (var id : actors.get(kind)) compare(id);
      compareHistories(kind, places);
    }
    return places;
  }

  private void compare(ActorId id) {
    var first = StoreCopier.read(from, id);
    var second = StoreCopier.read(to, id);
    if (first.lastTurn() != second.lastTurn()
        || !Arrays.deepEquals(first.bodies().toArray(), second.bodies().toArray()))
      throw differs(id.toString(), "its turns");
    var waits = from.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE);
    var copies = to.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE);
    if (waits.size() != copies.size()) throw differs(id.toString(), "what waits for it");
    for (int i = 0; i < waits.size(); i++)
      if (!isSame(waits.get(i), copies.get(i))) throw differs(id.toString(), "what waits for it");
  }

  private static boolean isSame(PendingMessage one, PendingMessage other) {
    return one.id().equals(other.id()) && one.due().toEpochMilli() == other.due().toEpochMilli()
        && Arrays.equals(one.body(), other.body());
  }

  private IllegalStateException differs(String what, String of) {
    return new IllegalStateException(what + " is not the same at " + from + " and at " + to + ": " + of
        + " differ. Was it in use meanwhile? Copy again into an empty store");
  }

  // ---- history

  private void compareHistories(String kind, Map<ViewOffset, String> places) throws InterruptedException {
    var unread = new HashMap<ViewOffset, TurnKey>(); // the first turn that a view has not seen
    for (var view : views) if (view.kind().equals(kind)) unread.put(view, unread(view));
    var replaced = new HashMap<String, Long>(); // turns that are missing, until a whole one comes
    String place = "";
    try (var first = new TurnIterator(from.history(kind, "")); var second = new TurnIterator(to.history(kind, ""))) {
      for (var past = first.peek(); past != null; past = first.peek()) {
        var which = new TurnKey(past.key(), past.number());
        for (var view : unread.keySet()) if (which.equals(unread.get(view))) places.put(view, place);
        unread.values().removeIf(which::equals);
        var copied = second.peek();
        if (copied != null && isSame(past, copied)) {
          place = copied.offset();
          if (past.isFullState()) replaced.remove(past.key());
          second.next();
        } else replaced.put(past.key(), past.number());
        first.next();
      }
      if (second.peek() != null || !replaced.isEmpty()) throw differs("kind '" + kind + "'", "turns of its history");
    }
    for (var view : unread.keySet()) places.put(view, place);
  }

  private static boolean isSame(StoredTurn one, StoredTurn other) {
    return one.key().equals(other.key()) && one.number() == other.number() && one.isFullState() == other.isFullState()
        && one.at().toEpochMilli() == other.at().toEpochMilli() && Arrays.equals(one.body(), other.body());
  }

  /** Returns no actor if the view has seen all turns. */
  private TurnKey unread(ViewOffset view) throws InterruptedException {
    try (var history = from.history(view.kind(), view.offset())) {
      var rest = history.poll();
      return rest.isEmpty() ? new TurnKey("", 0) : new TurnKey(rest.getFirst().key(), rest.getFirst().number());
    }
  }
}
