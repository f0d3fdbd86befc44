package io.fibry.pubsub;

import io.fibry.AskCycleException;
import io.fibry.Exitable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A place in a topic. */
abstract class Subscriber<M> implements Subscription {
  static final Logger LOG = LoggerFactory.getLogger(Topic.class);

  final ActorTopic<M> topic;
  final Exitable other; // somebody else's, whose end ends this; null: there is none
  // true -> false, by whoever leaves; read by publishers, and before a call
  private volatile boolean open = true;

  Subscriber(ActorTopic<M> topic, Exitable other) {
    this.topic = topic;
    this.other = other;
  }

  /**
   * On the publisher's thread. A ring is his own matter; anything else thrown is that of whoever
   * ordered, weighed or took the message.
   */
  final void deliver(M message) {
    if (!open) return;
    try {
      if (hand(message)) return;
    } catch (AskCycleException ring) {
      throw ring;
    } catch (Throwable refusal) {
      LOG.error("topic '{}': a subscriber did not take {}", topic.name(), message, refusal);
    }
    if (isGone()) leave(); // else each message until its end is told would be refused too
  }

  /** False: it was not taken, and is a dead letter. */
  abstract boolean hand(M message);

  /** Whether it will never take anything more. */
  abstract boolean isGone();

  final boolean isOpen() {
    return open;
  }

  final void leave() {
    open = false;
    topic.leave(this);
  }

  @Override
  public void close() {
    leave();
  }
}
