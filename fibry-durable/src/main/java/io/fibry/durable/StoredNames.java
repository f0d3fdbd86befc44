package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Checks of names that are stored. */
final class StoredNames {
  private static final int MAX_BYTES = 512; // bytes
  private static final String IDEMPOTENT_PREFIX = "once:";

  private StoredNames() {}

  /** Checks the name of a kind or a view, which is plain because people read and type it. */
  static String checkPlain(String what, String name) {
    if (!Objects.requireNonNull(name, "name").matches("[a-z][a-z0-9-]{0,63}"))
      throw new IllegalArgumentException("'" + Lines.line(name) + "' cannot name a " + what
          + ": take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return name;
  }

  /** Returns the id under which a message to an actor comes again. */
  static String messageId(Store.ActorId actor, Idempotent message) {
    String what = "the id of " + message.getClass().getSimpleName() + " to " + actor + ", which is Once,";
    return IDEMPOTENT_PREFIX
        + checkText(what, Objects.requireNonNull(message.idempotencyKey(), () -> what + " is null"));
  }

  static boolean isIdempotent(String messageId) {
    return messageId.startsWith(IDEMPOTENT_PREFIX);
  }

  /** Any text that all stores can keep. */
  static String checkText(String what, String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text))
      throw new IllegalArgumentException(what + " has half of a surrogate pair");
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > MAX_BYTES)
      throw new IllegalArgumentException(what + " takes " + length + " bytes; 1 to " + MAX_BYTES + " are possible");
    return text;
  }
}
