package io.fibry.cluster;

import io.fibry.pool.Entities;

/** The entities of a kind at this node. Thread-safe. */
interface EntityFactory<M> {

  /** Returns the entities of a part; none lives yet. */
  Entities<String, M> entities(int part);

  /** Something waits at the store for an actor. */
  default void deliverPending(String key) {}

  /** Something may wait for actors of this node, and nobody told. */
  default void deliverAllPending() {}
}
