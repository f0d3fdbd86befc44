package io.fibry.durable;

import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.text.Lines;
import java.util.Set;

/** How the answers to messages that are {@code Once} become bytes. */
final class IdempotentAnswers {
  private IdempotentAnswers() {}

  /**
   * Throws if one of these messages would have an answer that cannot be remembered.
   *
   * @param known requests whose answers have a codec
   */
  static void check(Class<?> messages, Set<Class<?>> known) {
    if (messages.isSealed()) for (var each : messages.getPermittedSubclasses()) check(each, known);
    else if (!messages.isInterface() && !known.contains(messages) && Idempotent.class.isAssignableFrom(messages)
        && Request.class.isAssignableFrom(messages))
      codecFor(messages);
  }

  static Codec<Object> codecFor(Class<?> request) {
    try {
      return Codec.ofAnswers(request);
    } catch (IllegalArgumentException none) {
      throw new IllegalArgumentException(
          request.getName() + " is Once, and its answer cannot be remembered: " + Lines.message(none), none);
    }
  }
}
