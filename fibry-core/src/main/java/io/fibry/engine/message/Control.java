package io.fibry.engine.message;

/** Work of the engine in place of a message. A null {@code task} is the pill. */
public record Control(Runnable task) {
  public static final Control PILL = new Control(null);

  /** The sender's message or task. */
  public static Object given(Object message) {
    return message instanceof Control control ? control.task : message;
  }
}
