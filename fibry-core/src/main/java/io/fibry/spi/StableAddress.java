package io.fibry.spi;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;

/**
 * An address that stays valid when the actor behind it ends and a new actor takes the actor's
 * place, such as the address of an entity. Blocks make such addresses. Code that reacts to the end
 * of actors, as a topic does for its subscribers, must react to the end of {@link #owner()}
 * instead.
 */
public interface StableAddress extends Exitable {

  /** {@return the block or actor whose end also ends the address} */
  Exitable owner();

  /** {@return a builder of actors in the scope of the block} */
  ActorBuilder<Object> beside();

  /**
   * {@return the owner, if the argument is an address; otherwise the argument itself}
   *
   * @param actor an address, an actor or a block
   */
  static Exitable owner(Exitable actor) {
    return actor instanceof StableAddress address ? address.owner() : actor;
  }
}
