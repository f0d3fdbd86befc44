package io.fibry.store.folder;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The old and new places of records when segments become one: twelve bytes for each. Filled by one
 * thread, then only read.
 */
final class Relocations {
  private final int segment; // where they are then
  private long[] from; // places, ascending; as the next one, longer than needed
  private int[] to; // offsets
  private int count;
  // Messages of a record, if others before them are gone.
  private final Map<Long, List<Integer>> remaining = new HashMap<>();

  /** @param expected how many, about */
  Relocations(int segment, int expected) {
    this.segment = segment;
    this.from = new long[expected];
    this.to = new int[expected];
  }

  /**
   * In the order of their places.
   *
   * @param messages Adds a record; its living messages are given by their former index.
   */
  void add(long place, List<Integer> messages, int offset) {
    if (!messages.isEmpty() && messages.getLast() >= messages.size()) remaining.put(place, messages);
    if (count == from.length) {
      from = Arrays.copyOf(from, count + count / 4 + 1);
      to = Arrays.copyOf(to, from.length);
    }
    from[count] = place;
    to[count++] = offset;
  }

  /** Returns the new place of a record, or of a record that stays instead. */
  long newPlace(long place) {
    int at = find(place);
    return at < 0 ? place : ActorLocation.packPlace(segment, to[at]);
  }

  ActorLocation.MessageLocation newPlace(ActorLocation.MessageLocation message) {
    long place = ActorLocation.packPlace(message.segment(), message.offset());
    int at = find(place);
    if (at < 0) return message;
    var indices = remaining.get(place);
    int index = indices == null ? message.index() : Collections.binarySearch(indices, message.index());
    return new ActorLocation.MessageLocation(message.due(), segment, to[at], index);
  }

  /** Negative: it stays. */
  private int find(long place) {
    if (count == 0 || place < from[0] || place > from[count - 1]) return -1;
    return Arrays.binarySearch(from, 0, count, place);
  }
}
