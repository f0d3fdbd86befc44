package io.fibry.cluster;

import io.fibry.pool.Entities;

/** What is at home at this node, of a kind. Thread-safe. */
interface Birth<M> {

  /** Those of a part, none alive. */
  Entities<String, M> entities(int part);

  /** Something waits at the store for an actor. */
  default void look(String key) {}

  /** Something may wait for actors of this node, and nobody told. */
  default void lookAgain() {}
}
