package io.fibry.pubsub;

import io.fibry.Exitable;

/** A place in a topic. */
abstract class Place<M> implements Subscription {
  final Hub<M> hub;
  final Exitable other; // somebody else's, whose end ends this; null: there is none
  private volatile boolean open = true; // true -> false, by whoever leaves; read by publishers, and before a call

  Place(Hub<M> hub, Exitable other) {
    this.hub = hub;
    this.other = other;
  }

  /** Hands it over, on the publisher's thread. Throws an {@code AskCycleException}, and nothing else that concerns the subscriber. */
  abstract void deliver(M message);

  final boolean isOpen() {
    return open;
  }

  final void shut() {
    open = false;
  }

  @Override
  public void close() {
    open = false;
    hub.leave(this);
  }
}
