package io.fibry.engine.message;

/** Work of the engine in place of a message. A null {@code task} is the pill. */
public record Control(Runnable task) {
  public static final Control PILL = new Control(null);

  /** The sender's message, task or code. */
  public static Object given(Object message) {
    if (message instanceof Control control) return control.task;
    return message instanceof AwaitedCode awaited ? awaited.code() : message;
  }
}
