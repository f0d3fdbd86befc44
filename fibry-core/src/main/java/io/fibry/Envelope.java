package io.fibry;

/**
 * A message in transit that nobody waits for. A request in transit is an {@link Asked}; both are
 * nodes of the plain queue.
 */
final class Envelope {
  /** Says, in the place of a message, that the engine itself has something to do. */
  static final class Control {
    static final Control PILL = new Control(null);

    final Runnable task; // null: the pill

    Control(Runnable task) {
      this.task = task;
    }
  }

  /** A node already handled: where a drain begins that has yet to look what waits. */
  static final Envelope NOTHING = new Envelope(null);

  Object message; // null once its handling has begun; written by the sender, then by the drain
  Object next; // an Envelope or an Asked; written once by the next sender, nulled by the drain
  final Along along; // null: nothing

  Envelope(Object message) {
    this(message, null);
  }

  Envelope(Object message, Along along) {
    this.message = message;
    this.along = along;
  }

  /** What the sender gave, for a dead letter. */
  static Object given(Object message) {
    return message instanceof Control control ? control.task : message;
  }
}
