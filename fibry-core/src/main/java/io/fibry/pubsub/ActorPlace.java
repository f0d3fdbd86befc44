package io.fibry.pubsub;

import io.fibry.Actor;

/** An actor in a topic. */
final class ActorPlace<M> extends Place<M> {
  private final Actor<? super M> actor;

  /** Its own: made for this place. */
  ActorPlace(Hub<M> hub, Actor<? super M> actor, boolean own) {
    super(hub, own ? null : actor);
    this.actor = actor;
  }

  @Override
  void deliver(M message) {
    if (isOpen() && !actor.sendMessage(message) && actor.onExit().isDone()) super.close(); // else each message until its end is told would be a dead letter
  }

  @Override
  public void close() {
    super.close();
    if (other == null) actor.askExit();
  }
}
