package io.fibry;

/** Why something ended. */
public sealed interface ExitReason {

  /** It had done all it was given: a poison pill, a close, a task that returned. */
  record Finished() implements ExitReason {}

  /** It was asked to, by {@code askExit} or because its scope closed. */
  record Stopped() implements ExitReason {}

  /**
   * Its failure policy gave up, or it could get no thread any more.
   *
   * @param cause what was thrown
   */
  record Failed(Throwable cause) implements ExitReason {}

  /** It was killed. */
  record Killed() implements ExitReason {}
}
