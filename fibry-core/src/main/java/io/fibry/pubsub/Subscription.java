package io.fibry.pubsub;

/**
 * A subscription to a topic, observable value or observable map. Ends with its subscriber.
 * Thread-safe.
 */
public interface Subscription extends AutoCloseable {

  /**
   * Ends the subscription. Does not wait, so the subscriber's code may call it. After this call no
   * call of the subscriber's code begins; a running call continues. If the subscription made an
   * actor, the messages in its mailbox are undelivered. An actor of the user keeps the messages
   * that it has received, and may receive further messages that publishers are sending at that
   * moment.
   */
  @Override
  void close();
}
