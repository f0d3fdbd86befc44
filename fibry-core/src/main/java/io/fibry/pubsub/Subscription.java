package io.fibry.pubsub;

/**
 * A place among those who are told: of a topic, a shared value or a shared map. Ends too when whom
 * it tells has ended. Thread-safe.
 */
public interface Subscription extends AutoCloseable {

  /**
   * Leaves, once and for all; does not wait, so it may be called from the subscriber's own code. No
   * code of the subscriber is begun after this returned: a call that runs already ends in its own
   * time, and what waited in a mailbox made for this subscriber is undelivered. An actor that was
   * there before keeps what it was sent; a publisher that is just handing it a message may finish
   * doing so.
   */
  @Override
  void close();
}
