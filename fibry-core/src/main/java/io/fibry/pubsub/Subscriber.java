package io.fibry.pubsub;

import io.fibry.AskCycleException;
import io.fibry.Exitable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

abstract class Subscriber<M> implements Subscription {
  /** The topic it subscribed to. */
  interface SubscribedTopic<M> {
    String name();

    /** Returns the text of a message for logs. */
    String describe(M message);

    /** Whether what was published before its end is undelivered too. */
    boolean isCutOff();

    void leave(Subscriber<M> subscriber);

    /** Whether this actor of a user has a subscription. */
    boolean hasSubscriber(Exitable foreign);

    /** Its end ends its subscriptions. */
    void forget(Exitable foreign);
  }

  static final Logger LOG = LoggerFactory.getLogger("io.fibry.pubsub.Topic"); // whose users read it

  final SubscribedTopic<M> topic;
  final Exitable userActor; // the user's actor, or the owner of its address, if any; its end ends this
  private volatile boolean open = true; // true -> false, by the thread that leaves

  Subscriber(SubscribedTopic<M> topic, Exitable foreign) {
    this.topic = topic;
    this.userActor = foreign;
  }

  /** Throws a ring, which is the publisher's own, and logs other failures. */
  final void deliver(M message) {
    if (!open) return;
    try {
      if (offer(message)) return;
    } catch (AskCycleException ring) {
      throw ring;
    } catch (Throwable refusal) {
      LOG.error("topic '{}': a subscriber did not take {}", topic.name(), topic.describe(message), refusal);
    }
    if (isGone()) leave(); // the watcher may learn it later
  }

  /** Returns false if the message is a dead letter. */
  abstract boolean offer(M message);

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
