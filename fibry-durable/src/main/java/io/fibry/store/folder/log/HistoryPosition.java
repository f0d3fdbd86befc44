package io.fibry.store.folder.log;

import io.fibry.text.Lines;

/**
 * The position of a turn in the history of its kind. Compaction may give the turn's frame a greater
 * number, but keeps the order of turns.
 *
 * @param frameNumber the number of the frame
 * @param turnNumber the number of the turn
 * @param key the key of its actor
 */
public record HistoryPosition(long frameNumber, long turnNumber, String key) {
  public static final HistoryPosition BEGINNING = new HistoryPosition(0, 0, "");

  @Override
  public String toString() {
    return frameNumber + "." + turnNumber + "." + key;
  }

  public static HistoryPosition of(String text, String kind) {
    if (text.isEmpty()) return BEGINNING;
    if (!text.matches("\\d{1,18}\\.\\d{1,18}\\.(?s:.+)"))
      throw new IllegalArgumentException("'" + Lines.line(text) + "' is no offset in the history of " + kind);
    var parts = text.split("\\.", 3);
    return new HistoryPosition(Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2]);
  }
}
