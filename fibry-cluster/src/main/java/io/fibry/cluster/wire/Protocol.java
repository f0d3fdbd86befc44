package io.fibry.cluster.wire;

import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.text.Lines;
import java.util.Objects;
import java.util.function.Supplier;

/** Encodes and decodes the messages of an actor, and their answers. */
public record Protocol<M>(Class<M> type, Codec<M> messageCodec) {

  /** Throws an exception if messages of this type, or the answers to them, cannot be encoded. */
  public static <M> Protocol<M> of(Class<M> type) {
    return of(type, () -> Codec.of(Objects.requireNonNull(type, "messages")));
  }

  public static <M> Protocol<M> of(Class<M> type, Supplier<Codec<M>> codec) {
    try {
      var messages = codec.get();
      checkAnswerCodecs(type);
      return new Protocol<>(type, messages);
    } catch (IllegalArgumentException failure) {
      throw new IllegalArgumentException(
          "messages of " + type.getName() + " cannot be sent to another node: " + Lines.message(failure), failure);
    }
  }

  private static void checkAnswerCodecs(Class<?> type) {
    if (type.isSealed()) for (var subtype : type.getPermittedSubclasses()) checkAnswerCodecs(subtype);
    else if (!type.isInterface() && Request.class.isAssignableFrom(type)) Codec.ofAnswers(type);
  }

  public byte[] encode(M message) {
    return messageCodec.encode(Objects.requireNonNull(message, "message"));
  }

  /**
   * Decodes a message.
   *
   * @throws CodecException if the bytes are not a message
   */
  public M decode(byte[] bytes) {
    return messageCodec.decode(bytes);
  }

  public static byte[] encodeAnswer(Object request, Object answer) {
    return Codec.ofAnswers(request.getClass()).encode(answer);
  }

  @SuppressWarnings("unchecked") // the codec is for the answers to the request
  public static <R> R decodeAnswer(Request<?, R> request, byte[] bytes) {
    return (R) Codec.ofAnswers(request.getClass()).decode(bytes);
  }
}
