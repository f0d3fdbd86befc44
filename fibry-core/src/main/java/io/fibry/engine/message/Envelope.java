package io.fibry.engine.message;

/**
 * A message in transit for which no sender waits. A request in transit is a {@link RequestFuture}.
 * Both are nodes of the plain queue.
 */
public final class Envelope {
  /** Stands in place of a message: work of the engine itself. */
  public static final class Control {
    public static final Control PILL = new Control(null);

    public final Runnable task; // null: the pill

    public Control(Runnable task) {
      this.task = task;
    }
  }

  /** A node already handled: a drain that begins here takes what waits behind it. */
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

  /** What the sender gave, be it a message or a task. */
  public static Object given(Object message) {
    return message instanceof Control control ? control.task : message;
  }
}
