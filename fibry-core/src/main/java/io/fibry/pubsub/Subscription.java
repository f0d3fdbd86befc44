package io.fibry.pubsub;

/** A subscription to a topic, shared value or shared map. Ends with its subscriber. Thread-safe. */
public interface Subscription extends AutoCloseable {

  /**
   * Ends the subscription. Does not wait, so the subscriber's code may call it. After this call no
   * call of the subscriber's code begins; a running call continues. Messages that wait in a mailbox
   * made for the subscription are undelivered; other actors keep the messages that they got. A
   * publisher that is handing over a message may finish that.
   */
  @Override
  void close();
}
