package io.fibry.pubsub;

import io.fibry.Actor;

final class ActorSubscriber<M> extends Subscriber<M> {
  private final Actor<? super M> actor;
  private final boolean own; // made by the topic

  ActorSubscriber(ActorTopic<M> topic, Actor<? super M> actor, boolean own) {
    super(topic, own ? null : actor);
    this.actor = actor;
    this.own = own;
  }

  @Override
  boolean hand(M message) {
    return actor.sendMessage(message);
  }

  @Override
  boolean isGone() {
    return actor.onExit().isDone();
  }

  @Override
  public void close() {
    leave();
    if (own) actor.askExit();
  }
}
