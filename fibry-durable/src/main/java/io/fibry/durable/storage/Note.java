package io.fibry.durable.storage;

import java.time.Instant;
import java.util.Optional;

/** An entry that an actor stores beside its state. A note names a message by its id. */
public sealed interface Note {

  /** The message was handled, and is not handled again. The answer is encoded. */
  record Answered(String message, Instant at, Optional<byte[]> answer) implements Note {}

  /** The handler of the message ran a step. If there is no result, the step threw. */
  record Step(String message, String name, Optional<byte[]> result, String failure) implements Note {}

  /**
   * The number of counted attempts at the message since its last step. The process ended during
   * each of these attempts, except perhaps the last.
   *
   * @param message the unique id of the stored message
   */
  record Begun(String message, int times) implements Note {}

  /**
   * The message was parked. Its steps stay stored as long as it is parked.
   *
   * @param waiting the unique id of the stored message before it was parked
   */
  record PutAside(String message, String waiting) implements Note {}

  /** The message is not delivered again, so other notes about it are obsolete. */
  record Over(String message) implements Note {}
}
