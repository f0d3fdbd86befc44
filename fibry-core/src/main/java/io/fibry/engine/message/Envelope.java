package io.fibry.engine.message;

/** A message in transit for which no sender waits. Like a {@link RequestFuture}, a queue's node. */
public final class Envelope {
  /** A node already handled, for a drain to begin at. */
  public static final Envelope NOTHING = new Envelope(null);

  public Object message; // null once it is being handled; written by the sender, then by the drain
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
