package io.fibry.durable.storage;

import io.fibry.durable.Idempotent;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Supplier;

/** Checks stored names and texts, and makes the ids of idempotent messages. */
public final class StoredNameChecks {
  private static final int MAX_BYTES = 512;
  private static final String IDEMPOTENT_PREFIX = "once:";

  private StoredNameChecks() {}

  /** Checks the name of a kind or a view, which is plain because people read and type it. */
  public static String checkPlain(String role, String name) {
    if (!Objects.requireNonNull(name, "name").matches("[a-z][a-z0-9-]{0,63}"))
      throw new IllegalArgumentException("'" + Lines.line(name) + "' cannot name a " + role
          + ": take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return name;
  }

  /** Returns the id by which an actor recognizes an idempotent message that is sent again. */
  public static String messageId(Store.ActorId actor, Idempotent message) {
    Supplier<String> role =
        () -> "the idempotency key of the message " + message.getClass().getSimpleName() + " to " + actor;
    return IDEMPOTENT_PREFIX
        + checkText(role, Objects.requireNonNull(message.idempotencyKey(), () -> role.get() + " is null"));
  }

  public static boolean isIdempotent(String messageId) {
    return messageId.startsWith(IDEMPOTENT_PREFIX);
  }

  /**
   * Returns the text, or throws if some store cannot keep it.
   *
   * @param role says which text it is; called only for the text of the exception
   */
  public static String checkText(Supplier<String> role, String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text))
      throw new IllegalArgumentException(role.get() + " has half of a surrogate pair");
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > MAX_BYTES)
      throw new IllegalArgumentException(
          role.get() + " takes " + length + " bytes; 1 to " + MAX_BYTES + " are possible");
    return text;
  }
}
