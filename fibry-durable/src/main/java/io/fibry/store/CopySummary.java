package io.fibry.store;

import io.fibry.store.Store.ActorId;

/**
 * The amount that was copied from one store to another. Immutable and thread-safe.
 *
 * @param actors that have turns
 * @param turns of them
 * @param messages waiting messages, reminders and parked messages
 */
public record CopySummary(long actors, long turns, long messages) {
  /** It has the messages of the other actors as its own, until all are copied. */
  static final ActorId ACTOR = new ActorId(":copy", "copy");
  static final String UNFINISHED = "unfinished";

  /**
   * Whether a copy into a store has begun, and is not finished.
   *
   * @param store which
   * @return whether the copy in it is not complete
   * @throws StoreException if that cannot be read
   */
  public static boolean isUnfinishedIn(Store store) {
    return store.dueTime(ACTOR, UNFINISHED).isPresent();
  }
}
