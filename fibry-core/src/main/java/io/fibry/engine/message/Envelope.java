package io.fibry.engine.message;

/**
 * A message in transit that nobody waits for. A request in transit is an {@link RequestFuture}; both are
 * nodes of the plain queue.
 */
public final class Envelope {
  /** Says, in the place of a message, that the engine itself has something to do. */
  public static final class Control {
    public static final Control PILL = new Control(null);

    public final Runnable task; // null: the pill

    public Control(Runnable task) {
      this.task = task;
    }
  }

  /** A node already handled: where a drain begins that has yet to look what waits. */
  public static final Envelope NOTHING = new Envelope(null);

  public Object message; // null once its handling has begun; written by the sender, then by the drain
  public Object next; // an Envelope or an Asked; written once by the next sender, nulled by the drain
  public final Baggage along; // null: nothing

  public Envelope(Object message) {
    this(message, null);
  }

  public Envelope(Object message, Baggage along) {
    this.message = message;
    this.along = along;
  }

  /** What the sender gave, for a dead letter. */
  public static Object given(Object message) {
    return message instanceof Control control ? control.task : message;
  }
}
