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

  /** Returns 0 for a user's actor, whose mailbox also drops messages of other senders. */
  @Override
  long dropped() {
    return userActor == null ? topic.droppedBy(actor) : 0;
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
