package io.fibry.store;

import io.fibry.store.Store.ActorId;

/**
 * The numbers of actors, turns and messages that were copied from one store to another. Immutable
 * and thread-safe.
 *
 * @param actors the number of actors that have turns
 * @param turns the number of their turns
 * @param messages the number of pending messages, reminders and parked messages
 */
public record CopySummary(long actors, long turns, long messages) {
  /** The actor that sends the copied messages. It has a pending message until the copy is done. */
  static final ActorId ACTOR = new ActorId(":copy", "copy");
  /** The id of the message that is pending until the copy is done. */
  static final String UNFINISHED = "unfinished";

  /**
   * Returns whether a copy into a store has begun, and is not finished.
   *
   * @param store the target of the copy
   * @return whether the copy in the store is not complete
   * @throws StoreException if the store cannot be read
   */
  public static boolean isUnfinishedIn(Store store) {
    return store.dueTime(ACTOR, UNFINISHED).isPresent();
  }
}
