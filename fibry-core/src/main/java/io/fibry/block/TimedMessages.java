package io.fibry.block;

import io.fibry.Actor;
import io.fibry.engine.actor.TimedMessage;
import io.fibry.time.Scheduler;

/** Sends messages of a block to the block's own actor at a given time. */
public final class TimedMessages {
  private TimedMessages() {}

  /**
   * Starts a timer that sends a message once.
   *
   * @param key the new timer replaces a timer of the actor that has an equal key; null for a timer
   * without a key
   * @param time when to send, in nanoseconds by the clock of the actor's scope
   */
  public static <M> Scheduler.Timer sendAt(Actor<M> actor, Object key, M message, long time) {
    return TimedMessage.start(actor, key, message, time);
  }
}
