package io.fibry.store.folder.index;

import io.fibry.store.Store;
import io.fibry.store.spi.ViewOffset;
import io.fibry.store.folder.log.Frame;
import io.fibry.store.folder.log.HistoryPosition;
import io.fibry.store.folder.log.LogRecord;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The offsets up to which named views have read each kind. Thread-safe: an entry is written by the
 * thread that opens the log, then by the thread that writes the log, in the order of the log. A
 * pass of compaction may read an older offset than the newest, and then keeps more turns. Before a
 * pass deletes records, it syncs the log. So the turns that stored the offsets are on disk by then.
 *
 * <p>Compaction may give a frame a higher number, and keeps the order of turns. So the last
 * turn that a view has read is also searched in frames with higher numbers. If that turn is dead,
 * the turns of its frame look unread until the view reads the next turn of its kind. These turns
 * are kept longer than needed. No turn is deleted too early, because no frame gets a lower number.
 */
public final class ViewOffsets {
  // The last turn that each view has read, by kind and view.
  private final Map<String, Map<String, HistoryPosition>> positions = new ConcurrentHashMap<>();

  ViewOffsets() {}

  /**
   * Records the offset of a view, or removes it if the view was forgotten. Has no effect if the
   * actor does not belong to a view.
   */
  public void setOffset(Store.ActorId actor, byte[] body) {
    ViewOffset.kindReadBy(actor).ifPresent(kind -> setOffset(kind, actor, ViewOffset.of(actor, body)));
  }

  private void setOffset(String kind, Store.ActorId actor, Optional<ViewOffset> offset) {
    var positionsOfKind = positions.computeIfAbsent(kind, newKind -> new ConcurrentHashMap<>());
    offset.ifPresentOrElse(presentOffset -> positionsOfKind.put(actor.key(), positionOf(presentOffset)),
        () -> positionsOfKind.remove(actor.key()));
  }

  /**
   * Returns the position of a view. An offset that cannot be parsed counts as the beginning, so
   * that all turns are kept; the view itself refuses it.
   */
  private static HistoryPosition positionOf(ViewOffset view) {
    try {
      return HistoryPosition.of(view.offset(), view.kind());
    } catch (IllegalArgumentException notAnOffset) {
      return HistoryPosition.BEGINNING;
    }
  }

  /**
   * Returns the index of the first record in a frame that a view of the kind may still have to
   * read. Returns a number beyond the last index if there is none.
   */
  public int firstUnread(String kind, Frame frame) {
    int first = Integer.MAX_VALUE;
    for (var position : positions.getOrDefault(kind, Map.of()).values())
      if (position.frameNumber() <= frame.number()) first = Math.min(first, indexOf(kind, position, frame) + 1);
    return first;
  }

  /**
   * Returns the index of a turn in a frame. If the turn is not in it, returns -1, and the view may
   * have to read the whole frame.
   */
  private static int indexOf(String kind, HistoryPosition position, Frame frame) {
    for (int i = frame.records().size() - 1; i >= 0; i--) {
      var record = LogRecord.of(frame.records().get(i));
      if (record.number() == position.turnNumber() && record.actor().equals(new Store.ActorId(kind, position.key()))
          && record.type() != LogRecord.RecordType.SNAPSHOT && record.type() != LogRecord.RecordType.MESSAGE)
        return i;
    }
    return -1;
  }
}
