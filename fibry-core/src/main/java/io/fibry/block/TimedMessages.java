package io.fibry.block;

import io.fibry.Actor;
import io.fibry.engine.actor.TimedMessage;
import io.fibry.time.Scheduler;

/** Messages that a block sends to its own actor. */
public final class TimedMessages {
  private TimedMessages() {}

  /**
   * Sends it once.
   *
   * @param key replaces an earlier timer with an equal key; null for a timer without a key
   * @param time by the clock of the actor's scope
   */
  public static <M> Scheduler.Timer sendAt(Actor<M> actor, Object key, M message, long time) {
    return TimedMessage.start(actor, key, message, time);
  }
}
