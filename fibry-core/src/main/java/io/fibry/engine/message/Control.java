package io.fibry.engine.message;

/** Stands in place of a message: work of the engine itself. A null {@code task} is the pill. */
public record Control(Runnable task) {
  public static final Control PILL = new Control(null);

  /** What the sender gave, be it a message or a task. */
  public static Object given(Object message) {
    return message instanceof Control control ? control.task : message;
  }
}
