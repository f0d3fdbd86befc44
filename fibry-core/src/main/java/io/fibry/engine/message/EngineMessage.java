package io.fibry.engine.message;

/** Work of the engine in place of a message. A null {@code task} is the pill. */
public record EngineMessage(Runnable task) {
  public static final EngineMessage PILL = new EngineMessage(null);

  /** The sender's message, task or code. */
  public static Object unwrap(Object message) {
    if (message instanceof EngineMessage control) return control.task;
    return message instanceof AwaitedSinkTask awaited ? awaited.code() : message;
  }
}
