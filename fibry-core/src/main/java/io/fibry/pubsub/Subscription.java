package io.fibry.pubsub;

/** A subscription to a topic, shared value or shared map. Ends with its subscriber. Thread-safe. */
public interface Subscription extends AutoCloseable {

  /**
   * Leaves for good; does not wait, so the subscriber's code may call it. After this call no code
   * of the subscriber begins; a running call continues. Messages that wait in a mailbox made for
   * the subscription are undelivered; other actors keep the messages that they were sent. A
   * publisher may finish handing over a message.
   */
  @Override
  void close();
}
