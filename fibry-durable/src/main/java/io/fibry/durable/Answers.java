package io.fibry.durable;

import io.fibry.Request;
import io.fibry.codec.Codec;
import java.lang.reflect.ParameterizedType;
import java.util.Arrays;

/** How the answers to messages that are {@code Once} become bytes. */
final class Answers {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    protected Codec<Object> computeValue(Class<?> request) {
      return find(request);
    }
  };

  private Answers() {}

  /** Throws if one of these messages would have an answer that cannot be remembered. */
  static void check(Class<?> messages) {
    if (messages.isSealed()) for (var each : messages.getPermittedSubclasses()) check(each);
    else if (!messages.isInterface() && Once.class.isAssignableFrom(messages)
        && Request.class.isAssignableFrom(messages))
      of(messages);
  }

  static Codec<Object> of(Class<?> request) {
    return CODECS.get(request);
  }

  @SuppressWarnings("unchecked") // of the type that the request's answer has
  private static Codec<Object> find(Class<?> request) {
    var answer = Arrays.stream(request.getGenericInterfaces())
        .map(one -> one instanceof ParameterizedType type && type.getRawType() == Request.class
            && type.getActualTypeArguments()[1] instanceof Class<?> known ? known : null)
        .filter(one -> one != null).findFirst().orElseThrow(() -> new IllegalArgumentException("the answer to "
            + request.getName() + ", which is Once, cannot be remembered: let it implement Request<.., R> itself, "
            + "where R is a class without parameters, such as a record"));
    try {
      return (Codec<Object>) Codec.of(answer);
    } catch (IllegalArgumentException none) {
      throw new IllegalArgumentException(
          "the answer to " + request.getName() + ", which is Once, cannot be remembered: " + none.getMessage(), none);
    }
  }
}
