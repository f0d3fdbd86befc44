package io.fibry.engine.message;

/**
 * A task that an actor runs in place of a message. If {@code task} is null, this is the pill, which
 * ends the actor.
 */
public record EngineMessage(Runnable task) {
  public static final EngineMessage PILL = new EngineMessage(null);

  /** Returns the object that the sender gave: a message, a task, or a sink's code. */
  public static Object unwrap(Object message) {
    if (message instanceof EngineMessage engineMessage) return engineMessage.task;
    return message instanceof AwaitedSinkTask sinkTask ? sinkTask.code() : message;
  }
}
