package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.text.SafeLogger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;

/** A subscription to a topic, which passes the messages of the topic on to one subscriber. */
abstract class Subscriber<M> implements Subscription {
  /** A topic, as its subscribers see it. */
  interface SubscribedTopic<M> {
    String name();

    /** Returns the text of a message for logs. */
    String describe(M message);

    /** Counts a delivery, which the subscriber has accepted or refused. */
    void countDelivery(boolean isAccepted);

    /** Returns how many messages the mailbox of an actor has accepted and dropped later. */
    long droppedBy(Actor<?> actor);

    /** Returns whether even messages that were published before the end stay undelivered. */
    boolean isDiscardingQueued();

    void leave(Subscriber<M> subscriber);

    /** Returns whether this actor of a user has a subscription. */
    boolean hasSubscriber(Exitable userActor);

    /** Removes the subscriptions of an actor that has ended. */
    void forget(Exitable userActor);
  }

  static final Logger LOG = SafeLogger.of("io.fibry.pubsub.Topic"); // the public class, which users know

  final SubscribedTopic<M> topic;
  // the user's actor whose end ends the subscription; null if the topic made the actor, or if the
  // subscriber is code on an executor that is no actor
  final Exitable userActor;
  private final LongAdder delivered = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private volatile boolean isOpen = true; // true -> false, by the thread that leaves

  Subscriber(SubscribedTopic<M> topic, Exitable userActor) {
    this.topic = topic;
    this.userActor = userActor;
  }

  /**
   * Hands over a message. Throws only an AskCycleException, because the publisher itself is in the
   * cycle; logs other failures.
   */
  final void deliver(M message) {
    if (!isOpen) return;
    boolean isAccepted = false;
    try {
      isAccepted = offer(message);
    } catch (AskCycleException cycle) {
      count(false);
      throw cycle;
    } catch (Throwable refusal) {
      LOG.error("topic '{}': a subscriber did not take {}", topic.name(), topic.describe(message), refusal);
    }
    count(isAccepted);
    if (!isAccepted && isGone()) leave(); // leaves now, because the watcher may be notified later
  }

  private void count(boolean isAccepted) {
    (isAccepted ? delivered : refused).increment();
    topic.countDelivery(isAccepted);
  }

  final SubscriberStats stats() {
    return new SubscriberStats(name(), delivered.sum(), refused.sum(), dropped());
  }

  abstract String name();

  /** Returns how many delivered messages were dropped later, if that is known. */
  abstract long dropped();

  /** Offers a message. Returns false if it became a dead letter. */
  abstract boolean offer(M message);

  abstract boolean isGone();

  final boolean isOpen() {
    return isOpen;
  }

  final void leave() {
    isOpen = false;
    topic.leave(this);
  }

  @Override
  public void close() {
    leave();
  }
}
