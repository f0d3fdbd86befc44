package io.fibry.durable.kind;

import io.fibry.codec.Codec;
import io.fibry.durable.Idempotent;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The codecs of a kind's messages, and of answers to its {@link Idempotent} messages.
 *
 * @param missingReason why the messages have no codec; empty if they have one
 * @param answerCodecs codecs that the user gave, by the class of the request
 */
public record MessageCodecs<M>(Class<M> type, Optional<Codec<M>> codec, String missingReason,
    Map<Class<?>, Codec<Object>> answerCodecs) {

  static <M> MessageCodecs<M> of(Class<M> type) {
    try {
      return new MessageCodecs<>(type, Optional.of(Codec.of(type)), "", Map.of());
    } catch (IllegalArgumentException noCodec) {
      return new MessageCodecs<>(type, Optional.empty(), Lines.message(noCodec), Map.of());
    }
  }

  MessageCodecs<M> withCodec(Codec<M> messageCodec) {
    return new MessageCodecs<>(type, Optional.of(CheckedCodec.of(messageCodec)), "", answerCodecs);
  }

  @SuppressWarnings("unchecked") // the codec encodes only answers to requests of this class
  MessageCodecs<M> withAnswerCodec(Class<?> request, Codec<?> answerCodec) {
    if (!type.isAssignableFrom(Objects.requireNonNull(request, "request")))
      throw new IllegalArgumentException(request.getName() + " is no message of " + type.getName());
    var allAnswers = new HashMap<>(answerCodecs);
    allAnswers.put(request, (Codec<Object>) CheckedCodec.of(answerCodec));
    return new MessageCodecs<>(type, codec, missingReason, Map.copyOf(allAnswers));
  }

  public Codec<Object> answerCodec(Class<?> request) {
    var userCodec = answerCodecs.get(request);
    return userCodec == null ? IdempotentAnswers.codecFor(request) : userCodec;
  }

  /** Returns the codec of the messages, or throws if they have none. */
  public Codec<M> requireCodec() {
    return codec.orElseThrow(() -> new IllegalArgumentException(
        "messages of " + type.getName() + " cannot be encoded, so they cannot be stored: " + missingReason));
  }
}
