package io.fibry.spi;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;

/**
 * An address, made by a block, that stays valid while the actors behind it come and go, such as an
 * entity's. Where the end of an actor matters to others, such as the topic to which it subscribed,
 * the end of its owner matters for the address.
 */
public interface LastingAddress extends Exitable {

  /** {@return the block or actor whose end is the end of the address} */
  Exitable owner();

  /** {@return a builder of actors in the scope of the block} */
  ActorBuilder<Object> beside();

  /**
   * {@return the owner of an address; any other actor is returned as it is}
   *
   * @param actor perhaps an address
   */
  static Exitable owner(Exitable actor) {
    return actor instanceof LastingAddress address ? address.owner() : actor;
  }
}
