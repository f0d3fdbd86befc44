package io.fibry.store;

import io.fibry.store.Store.Id;

/**
 * What was copied from one store to another. Immutable and thread-safe.
 *
 * @param actors that have turns
 * @param turns of them
 * @param messages that wait, reminders, and those that are aside
 */
public record Copy(long actors, long turns, long messages) {
  /** It has the messages of the others as its own, until all are there. */
  static final Id ACTOR = new Id(":copy", "copy");
  static final String UNFINISHED = "unfinished";

  /**
   * Whether a copy into a store has begun, and is not finished.
   *
   * @param store which
   * @return true: what is in it is not all
   * @throws StoreException if that cannot be read
   */
  public static boolean isUnfinishedIn(Store store) {
    return store.due(ACTOR, UNFINISHED).isPresent();
  }
}
