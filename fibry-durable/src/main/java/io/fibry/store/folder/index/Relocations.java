package io.fibry.store.folder.index;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The old and new positions of records, when one segment replaces several. An entry takes twelve
 * bytes, unless the indices of its messages have changed. Filled by one thread, then only read.
 */
public final class Relocations {
  private final int segment; // the number of the new segment
  private long[] oldPositions; // ascending; may be longer than `count`
  private int[] newOffsets; // may be longer than `count`
  private int count; // records that were added
  // Key: the old position of a record. Value: the old indices of its live messages, among the
  // messages that its turn sends (the outbox). Contains only records whose live messages have other
  // indices now.
  private final Map<Long, List<Integer>> liveIndices = new HashMap<>();

  /** @param expectedCount the approximate number of records */
  public Relocations(int segment, int expectedCount) {
    this.segment = segment;
    this.oldPositions = new long[expectedCount];
    this.newOffsets = new int[expectedCount];
  }

  /**
   * Adds a record. Records must be added in the order of their old positions.
   *
   * @param oldPosition the old position
   * @param oldIndices the old indices of its live messages
   * @param newOffset the new offset
   */
  public void add(long oldPosition, List<Integer> oldIndices, int newOffset) {
    if (!oldIndices.isEmpty() && oldIndices.getLast() >= oldIndices.size())
      liveIndices.put(oldPosition, oldIndices);
    if (count == oldPositions.length) {
      oldPositions = Arrays.copyOf(oldPositions, count + count / 4 + 1);
      newOffsets = Arrays.copyOf(newOffsets, oldPositions.length);
    }
    oldPositions[count] = oldPosition;
    newOffsets[count++] = newOffset;
  }

  /**
   * Returns the new position of a record; if the record was not moved, returns its old position.
   */
  long newPosition(long oldPosition) {
    int index = find(oldPosition);
    return index < 0 ? oldPosition : ActorLocation.packPosition(segment, newOffsets[index]);
  }

  ActorLocation.MessageLocation newPosition(ActorLocation.MessageLocation message) {
    long oldPosition = ActorLocation.packPosition(message.segment(), message.offset());
    int entry = find(oldPosition);
    if (entry < 0) return message;
    var indices = liveIndices.get(oldPosition);
    int index = indices == null ? message.index() : Collections.binarySearch(indices, message.index());
    return new ActorLocation.MessageLocation(message.due(), segment, newOffsets[entry], index);
  }

  /** Returns the index of the entry; a negative number if the record was not moved. */
  private int find(long oldPosition) {
    if (count == 0 || oldPosition < oldPositions[0] || oldPosition > oldPositions[count - 1]) return -1;
    return Arrays.binarySearch(oldPositions, 0, count, oldPosition);
  }
}
