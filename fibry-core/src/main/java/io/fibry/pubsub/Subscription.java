package io.fibry.pubsub;

/** A subscription to a topic, shared value or shared map. Ends with its subscriber. Thread-safe. */
public interface Subscription extends AutoCloseable {

  /**
   * Ends the subscription. Does not wait, so the subscriber's code may call it. After this call no
   * call of the subscriber's code begins; a running call continues. If the subscription made an
   * actor, the messages queued there are undelivered; an actor of the user keeps the messages that
   * it got, and may still get a message that a publisher is handing over.
   */
  @Override
  void close();
}
