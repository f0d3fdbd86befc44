package io.fibry;

import io.fibry.text.Lines;

/** Why an actor or a block ended. */
public sealed interface ExitReason {
  // Each record has a toString of its own: if memory is exhausted when a generated toString is
  // called for the first time, that toString fails forever.

  /**
   * The actor handled all messages before a poison pill, and ended. {@code close} also sends a
   * pill.
   */
  record Finished() implements ExitReason {
    @Override
    public String toString() {
      return "Finished";
    }
  }

  /** The actor was ended by {@code askExit} or by the close of its scope. */
  record Stopped() implements ExitReason {
    @Override
    public String toString() {
      return "Stopped";
    }
  }

  /**
   * The failure policy stopped the actor, or its strategy could not give it a thread any more.
   *
   * @param cause the exception of the handler or of the strategy
   */
  record Failed(Throwable cause) implements ExitReason {
    @Override
    public String toString() {
      return "Failed: " + Lines.text(cause);
    }
  }

  /** The actor was ended by {@code kill}. */
  record Killed() implements ExitReason {
    @Override
    public String toString() {
      return "Killed";
    }
  }
}
