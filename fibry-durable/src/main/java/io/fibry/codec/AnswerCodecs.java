package io.fibry.codec;

import io.fibry.Request;
import io.fibry.text.Lines;
import java.lang.reflect.ParameterizedType;
import java.util.Arrays;
import java.util.Objects;

/** The codecs of answers to requests, by the class of the request. Thread-safe. */
final class AnswerCodecs {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    protected Codec<Object> computeValue(Class<?> request) {
      return find(request);
    }
  };

  private AnswerCodecs() {}

  static Codec<Object> of(Class<?> request) {
    return CODECS.get(Objects.requireNonNull(request, "request"));
  }

  @SuppressWarnings("unchecked") // the codec is for the class of the request's answers
  private static Codec<Object> find(Class<?> request) {
    var answerClass = Arrays.stream(request.getGenericInterfaces())
        .map(type -> type instanceof ParameterizedType generic && generic.getRawType() == Request.class
            && generic.getActualTypeArguments()[1] instanceof Class<?> argument ? argument : null)
        .filter(Objects::nonNull).findFirst().orElseThrow(() -> noCodec(request,
            "let it implement Request<.., R> itself, where R is a class without parameters, such as a record", null));
    try {
      return (Codec<Object>) Codec.of(answerClass);
    } catch (IllegalArgumentException refused) {
      throw noCodec(request, Lines.message(refused), refused);
    }
  }

  private static IllegalArgumentException noCodec(Class<?> request, String reason, Throwable cause) {
    return new IllegalArgumentException("answers to " + request.getName() + " cannot be encoded: " + reason, cause);
  }
}
