package io.fibry.codec;

import io.fibry.Request;
import io.fibry.text.Lines;
import java.lang.reflect.ParameterizedType;
import java.util.Arrays;
import java.util.Objects;

/** How answers become bytes, by the class of the request. */
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

  @SuppressWarnings("unchecked") // of the type that the request's answer has
  private static Codec<Object> find(Class<?> request) {
    var answer = Arrays.stream(request.getGenericInterfaces())
        .map(one -> one instanceof ParameterizedType type && type.getRawType() == Request.class
            && type.getActualTypeArguments()[1] instanceof Class<?> known ? known : null)
        .filter(Objects::nonNull).findFirst().orElseThrow(() -> noCodec(request,
            "let it implement Request<.., R> itself, where R is a class without parameters, such as a record", null));
    try {
      return (Codec<Object>) Codec.of(answer);
    } catch (IllegalArgumentException none) {
      throw noCodec(request, Lines.message(none), none);
    }
  }

  private static IllegalArgumentException noCodec(Class<?> request, String why, Throwable cause) {
    return new IllegalArgumentException("answers to " + request.getName() + " have no form in bytes: " + why, cause);
  }
}
