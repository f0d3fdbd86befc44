package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.spi.StableAddress;

final class ActorSubscriber<M> extends Subscriber<M> {
  private final Actor<? super M> actor;

  ActorSubscriber(SubscribedTopic<M> topic, Actor<? super M> actor, boolean isOwned) {
    super(topic, isOwned ? null : StableAddress.owner(actor));
    this.actor = actor;
  }

  @Override
  boolean offer(M message) {
    return actor.sendMessage(message);
  }

  @Override
  String name() {
    return actor.name();
  }

  /** The only sender of an actor of the topic is the topic, so all other refusals are drops. */
  @Override
  long dropped(long refusedDeliveries) {
    return userActor == null ? Math.max(0, topic.refusedBy(actor) - refusedDeliveries) : 0;
  }

  @Override
  boolean isGone() {
    return (userActor == null ? actor : userActor).onExit().isDone();
  }

  @Override
  public void close() {
    leave();
    if (userActor == null) actor.askExit(); // the topic made the actor
  }
}
