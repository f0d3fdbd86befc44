package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.spi.LastingAddress;

final class ActorSubscriber<M> extends Subscriber<M> {
  private final Actor<? super M> actor;

  ActorSubscriber(SubscribedTopic<M> topic, Actor<? super M> actor, boolean own) {
    super(topic, own ? null : LastingAddress.owner(actor));
    this.actor = actor;
  }

  @Override
  boolean hand(M message) {
    return actor.sendMessage(message);
  }

  @Override
  boolean isGone() {
    return (foreign == null ? actor : foreign).onExit().isDone();
  }

  @Override
  public void close() {
    leave();
    if (foreign == null) actor.askExit(); // made by the topic
  }
}
