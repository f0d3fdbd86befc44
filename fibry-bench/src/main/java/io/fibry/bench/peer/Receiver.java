package io.fibry.bench.peer;

/**
 * An actor of some peer, to which messages are sent. Thread-safe.
 *
 * @param <M> the messages
 */
public interface Receiver<M> {

  /**
   * Hands over a message; waits only where there is a bound.
   *
   * @param message never null
   */
  void send(M message);

  /**
   * Hands over the same message many times. Overridden where a sender of this peer is no thread.
   *
   * @param message never null
   * @param times how often
   */
  default void sendAll(M message, int times) {
    for (int i = 0; i < times; i++) send(message);
  }

  /**
   * What a user of the peer would hold, without what this adapter adds.
   *
   * @return the actor; this, where the adapter is what such a user would write
   */
  default Object bare() {
    return this;
  }

  /** Ends it; it is idle. */
  void end();
}
