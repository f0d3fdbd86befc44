package io.fibry.engine.cell;

import io.fibry.ActorStats.ActorState;

/**
 * What an actor is doing, as an observer saw it. All components are from one observation. Refers to
 * no user object.
 *
 * @param state the state of the actor
 * @param text the activity as a text that follows "the actor"; may contain the text of a message
 * @param awaited the name of the actor for which the handler waits; null unless the state is
 * {@code AWAITING_ACTOR}
 * @param messageType the name of the class of the message or step; null if none is handled
 * @param busyWorkers how many workers of a pool are at work; 0 for another actor
 * @param workers how many workers a pool has; 0 for another actor
 * @param maxWorkers how many workers a pool may have; 0 for another actor
 */
public record Activity(ActorState state, String text, String awaited, String messageType, int busyWorkers,
    int workers, int maxWorkers) {
  static final Activity BUSY = of(ActorState.BUSY, "is busy");

  static Activity of(ActorState state, String text) {
    return of(state, text, null, null);
  }

  static Activity of(ActorState state, String text, String awaited, String messageType) {
    return new Activity(state, text, awaited, messageType, 0, 0, 0);
  }

  /** Returns the activity of a pool. {@code Integer.MAX_VALUE} workers are shown as no bound. */
  public static Activity ofPool(ActorState state, int busyWorkers, int workers, int maxWorkers) {
    var text =
        maxWorkers == Integer.MAX_VALUE ? busyWorkers + " at work" : busyWorkers + " of " + maxWorkers + " at work";
    return new Activity(state, text, null, null, busyWorkers, workers, maxWorkers);
  }
}
