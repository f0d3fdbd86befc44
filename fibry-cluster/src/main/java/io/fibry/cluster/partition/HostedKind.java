package io.fibry.cluster.partition;

import io.fibry.pool.Entities;

/** Makes the entities of a kind on this node, and delivers their pending messages. Thread-safe. */
public interface HostedKind<M> {

  /** Makes the entities of a partition. Their actors are made later, by the first messages. */
  Entities<String, M> entities(int partition);

  /** Delivers the messages that are pending in the store for the entity with the key. */
  default void deliverPending(String key) {}

  /**
   * Delivers all pending messages of entities of this node, because a notification of a pending
   * message may have been lost.
   */
  default void deliverAllPending() {}
}
