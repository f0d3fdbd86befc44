package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * How messages of a kind, and the answers to {@code Once} messages, become bytes.
 *
 * @param missingReason why they have no codec, or empty if they have one
 * @param answers codecs of a user, by the class of the request
 */
record MessageCodecs<M>(Class<M> type, Optional<Codec<M>> codec, String missingReason,
    Map<Class<?>, Codec<Object>> answers) {

  static <M> MessageCodecs<M> of(Class<M> type) {
    try {
      return new MessageCodecs<>(type, Optional.of(Codec.of(type)), "", Map.of());
    } catch (IllegalArgumentException none) {
      return new MessageCodecs<>(type, Optional.empty(), Lines.message(none), Map.of());
    }
  }

  MessageCodecs<M> withCodec(Codec<M> given) {
    return new MessageCodecs<>(type, Optional.of(CheckedCodec.of(given)), "", answers);
  }

  @SuppressWarnings("unchecked") // it gets answers to such requests only
  MessageCodecs<M> withAnswerCodec(Class<?> request, Codec<?> given) {
    if (!type.isAssignableFrom(Objects.requireNonNull(request, "request")))
      throw new IllegalArgumentException(request.getName() + " is no message of " + type.getName());
    var all = new HashMap<>(answers);
    all.put(request, (Codec<Object>) CheckedCodec.of(given));
    return new MessageCodecs<>(type, codec, missingReason, Map.copyOf(all));
  }

  Codec<Object> answerCodec(Class<?> request) {
    var given = answers.get(request);
    return given == null ? IdempotentAnswers.codecFor(request) : given;
  }

  /** Throws if there is none. */
  Codec<M> requireCodec() {
    return codec.orElseThrow(() -> new IllegalArgumentException(
        "messages of " + type.getName() + " have no form in bytes, so they cannot be kept: " + missingReason));
  }
}
