package io.fibry.engine.message;

/** Work of the engine in place of a message. A null {@code task} is the pill. */
public record EngineMessage(Runnable task) {
  public static final EngineMessage PILL = new EngineMessage(null);

  /** Returns the message, task or code that the sender gave. */
  public static Object unwrap(Object message) {
    if (message instanceof EngineMessage engineMessage) return engineMessage.task;
    return message instanceof AwaitedSinkTask sinkTask ? sinkTask.code() : message;
  }
}
