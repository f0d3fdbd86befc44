package io.fibry.engine.message;

import io.fibry.Request;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * The class of the answer that a class of requests declares. The compiler checks it in
 * {@code context.reply}, but not for a handler that returns its answers: an
 * {@code ActorWithReturn<M, R>} takes every {@code M}, also a request whose answer is no {@code R}.
 */
public final class AnswerType {
  private static final ClassValue<Class<?>> TYPES = new ClassValue<>() {
    @Override
    protected Class<?> computeValue(Class<?> request) {
      try {
        return raw(declared(request));
      } catch (LinkageError | RuntimeException unknown) { // a class that the declaration names is missing
        return Object.class;
      }
    }
  };

  private AnswerType() {}

  /** Object: not known, or any. */
  public static Class<?> of(Class<?> request) {
    return TYPES.get(request);
  }

  /** In terms of the type variables of whoever wrote {@code type}. */
  private static Type declared(Type type) {
    var raw = raw(type);
    if (raw == Request.class) return argument(type, 1);
    var above = Stream.concat(Stream.ofNullable(raw.getGenericSuperclass()), Arrays.stream(raw.getGenericInterfaces()));
    var found = above.filter(one -> Request.class.isAssignableFrom(raw(one))).findFirst();
    var answer = found.isEmpty() ? Object.class : declared(found.get());
    int variable = Arrays.asList(raw.getTypeParameters()).indexOf(answer);
    return variable < 0 ? answer : argument(type, variable);
  }

  private static Type argument(Type type, int index) {
    return type instanceof ParameterizedType known ? known.getActualTypeArguments()[index] : Object.class;
  }

  private static Class<?> raw(Type type) {
    return type instanceof Class<?> known ? known
        : type instanceof ParameterizedType parameterized ? (Class<?>) parameterized.getRawType() : Object.class;
  }
}
