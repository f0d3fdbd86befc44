package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.ViewOffset;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How far named views have read each kind. Thread-safe: an entry is written by the thread that
 * opens the log, then by the thread that writes it, in the order of the log. A pass of compaction
 * may read an older place than the newest, and then keeps more. The turns by which views noted
 * their places are on disk before something is deleted, since a pass forces all that the index
 * knows first.
 *
 * <p>Compaction gives frames the number of a later one, and keeps the order of turns. So the turn
 * that a view passed last is looked for in frames with higher numbers, too. If that turn is dead,
 * turns that moved with it look unread until the view passes the next turn of its kind. They are
 * kept longer, and never deleted too early, because no frame gets a lower number.
 */
final class ViewOffsets {
  // by kind and view
  private final Map<String, Map<String, LogHistory.HistoryPosition>> places = new ConcurrentHashMap<>();

  /** The last turn of an actor, which may be that of a view. */
  void noteView(Store.ActorId actor, byte[] body) {
    ViewOffset.kindOf(actor).ifPresent(kind -> noteView(kind, actor, ViewOffset.of(actor, body)));
  }

  private void noteView(String kind, Store.ActorId actor, Optional<ViewOffset> view) {
    var ofKind = places.computeIfAbsent(kind, none -> new ConcurrentHashMap<>());
    view.ifPresentOrElse(stands -> ofKind.put(actor.key(), positionOf(stands)), () -> ofKind.remove(actor.key()));
  }

  /** A text that is no place, which the view itself refuses, keeps all. */
  private static LogHistory.HistoryPosition positionOf(ViewOffset view) {
    try {
      return LogHistory.HistoryPosition.of(view.offset(), view.kind());
    } catch (IllegalArgumentException none) {
      return LogHistory.HistoryPosition.BEGINNING;
    }
  }

  /** The index of the first record in a frame that some view of the kind may still have to read. */
  int firstUnread(String kind, Frame frame) {
    int first = Integer.MAX_VALUE;
    for (var place : places.getOrDefault(kind, Map.of()).values())
      if (place.frame() <= frame.number()) first = Math.min(first, indexOf(kind, place, frame) + 1);
    return first;
  }

  /**
   * Returns -1 if the turn is not in the frame: then the view may have to read all of the frame.
   */
  private static int indexOf(String kind, LogHistory.HistoryPosition place, Frame frame) {
    for (int i = frame.records().size() - 1; i >= 0; i--) {
      var stored = LogRecord.of(frame.records().get(i));
      if (stored.number() == place.number() && stored.actor().equals(new Store.ActorId(kind, place.key()))
          && stored.type() != LogRecord.RecordType.SNAPSHOT && stored.type() != LogRecord.RecordType.MESSAGE)
        return i;
    }
    return -1;
  }
}
