package io.fibry.durable;

import io.fibry.ActorContext;
import io.fibry.Handler;

/**
 * What a handler of a durable actor may do beside its work. Answers leave when the turn is stored,
 * and the turns before. Messages can be neither received nor stashed.
 *
 * @param <M> messages
 */
public interface DurableContext<M> extends ActorContext<M> {

  /** {@return the key of this actor} */
  String key();

  /**
   * Runs code when the turn is stored, on a thread of its own: at most once.
   *
   * @param task if it throws, that is logged
   */
  void afterwards(Handler.Task task);

  /** With this turn all that is kept is forgotten: the next message begins anew. */
  void end();
}
