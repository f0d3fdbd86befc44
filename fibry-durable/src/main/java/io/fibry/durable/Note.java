package io.fibry.durable;

import java.time.Instant;
import java.util.Optional;

/** What an actor remembers beside its state. A message is named by its id. */
sealed interface Note {

  /** It was handled, once and for all. */
  record Answered(String message, Instant at, Optional<byte[]> answer) implements Note {}

  /** Its handler did a step, which threw if there is no result. */
  record Step(String message, String name, Optional<byte[]> result, String failure) implements Note {}

  /** It was begun so many times by processes that ended meanwhile, without a step. */
  record Begun(String message, int times) implements Note {}

  /**
   * The message was parked; its steps stay as long as it is parked.
   *
   * @param waiting the id that it had in the store before
   */
  record PutAside(String message, String waiting) implements Note {}

  /** It does not come again. */
  record Over(String message) implements Note {}
}
