package io.fibry.pubsub;

/** A subscription to a topic, shared value or shared map. Ends with its subscriber. Thread-safe. */
public interface Subscription extends AutoCloseable {

  /**
   * Leaves for good; does not wait, so the subscriber's code may call it. Later no code of the
   * subscriber begins; a running call goes on. What waits in a mailbox made for it is undelivered;
   * other actors keep what they were sent. A publisher may finish handing over a message.
   */
  @Override
  void close();
}
