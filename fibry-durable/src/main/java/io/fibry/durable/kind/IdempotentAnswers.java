package io.fibry.durable.kind;

import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.Idempotent;
import io.fibry.text.Lines;
import java.util.Set;

/** The codecs of answers to {@link Idempotent} messages. */
final class IdempotentAnswers {
  private IdempotentAnswers() {}

  /**
   * Throws if a type, or one of its permitted subtypes, is an idempotent request whose answers have
   * no codec.
   *
   * @param requestsWithCodec classes of requests for which the user gave a codec of the answers
   */
  static void check(Class<?> type, Set<Class<?>> requestsWithCodec) {
    if (type.isSealed()) for (var subtype : type.getPermittedSubclasses()) check(subtype, requestsWithCodec);
    else if (!type.isInterface() && !requestsWithCodec.contains(type) && Idempotent.class.isAssignableFrom(type)
        && Request.class.isAssignableFrom(type))
      codecFor(type);
  }

  static Codec<Object> codecFor(Class<?> request) {
    try {
      return Codec.ofAnswers(request);
    } catch (IllegalArgumentException noCodec) {
      throw new IllegalArgumentException(
          request.getName() + " is Idempotent, and its answer cannot be remembered: " + Lines.message(noCodec),
          noCodec);
    }
  }
}
