package io.fibry;

import io.fibry.text.Lines;

/** Why something ended. */
public sealed interface ExitReason {
  // the texts are written here, because the generated text of a record fails for ever if it is
  // first used without memory

  /** It had done all it was given: a poison pill, a close, a task that returned. */
  record Finished() implements ExitReason {
    @Override
    public String toString() {
      return "Finished";
    }
  }

  /** It was asked to, by {@code askExit} or because its scope closed. */
  record Stopped() implements ExitReason {
    @Override
    public String toString() {
      return "Stopped";
    }
  }

  /**
   * Its failure policy gave up, or it could get no thread any more.
   *
   * @param cause the exception of the handler
   */
  record Failed(Throwable cause) implements ExitReason {
    @Override
    public String toString() {
      return "Failed: " + Lines.text(cause);
    }
  }

  /** It was killed. */
  record Killed() implements ExitReason {
    @Override
    public String toString() {
      return "Killed";
    }
  }
}
