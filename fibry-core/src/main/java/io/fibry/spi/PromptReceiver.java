package io.fibry.spi;

import io.fibry.Actor;

/**
 * An actor that knows whether a thread that must not wait may send to it. Actors of this library
 * implement this interface; addresses of blocks, such as durable actors, do not.
 */
public interface PromptReceiver {

  /**
   * {@return whether a send never waits for capacity, and neither runs the handler nor a comparator
   * or a strategy of a user on the sender's thread} The answer never changes. Context propagators
   * and listeners of dead letters run on the sender's thread nevertheless.
   */
  boolean acceptsPromptly();

  /**
   * {@return whether a thread that must not wait may send to the actor}
   *
   * @param actor an actor, or the address of a block
   */
  static boolean isPrompt(Actor<?> actor) {
    return actor instanceof PromptReceiver receiver && receiver.acceptsPromptly();
  }
}
