package io.fibry.engine.message;

/**
 * A message in flight whose sender waits for no answer. Like a {@link RequestFuture}, it is a node
 * of a queue.
 */
public final class Envelope {
  /**
   * A node without a message. A drain begins at this node if it has not taken a message from its
   * queue yet.
   */
  public static final Envelope NOTHING = new Envelope(null);
  /** Like {@link #NOTHING}, for a drain that begins with a request of an asker off the carriers. */
  public static final Envelope NOTHING_OF_ASKER_OFF_CARRIERS = new Envelope(null);

  public Object message; // null once the message is being handled; written by the sender, then by the drain
  public Object next; // an Envelope or a RequestFuture; set once by the next sender, cleared by the drain
  public final Baggage baggage; // null: none

  public Envelope(Object message) {
    this(message, null);
  }

  public Envelope(Object message, Baggage baggage) {
    this.message = message;
    this.baggage = baggage;
  }
}
