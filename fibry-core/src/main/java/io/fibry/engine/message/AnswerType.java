package io.fibry.engine.message;

import io.fibry.Request;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;

/**
 * The class of the answer that a class of requests declares. The compiler checks that type in
 * {@code context.reply}, but not for a handler that returns its answers. An
 * {@code ActorWithReturn<M, R>} is an {@code Actor<M>}, which takes a {@code Request<M, A>} and
 * returns an {@code A}. So whoever asks with that type is told if the answer is none.
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

  /** {@return the declared class, or Object if that is any or not known} */
  public static Class<?> of(Object request) {
    return TYPES.get(request.getClass());
  }

  public static Object checked(DescribedActor actor, Object request, Object answer) {
    if (of(request).isInstance(answer)) return answer;
    throw refused(actor, request, answer);
  }

  public static ClassCastException refused(DescribedActor actor, Object request, Object answer) {
    return new ClassCastException("actor '" + actor.name() + "' answered a " + answer.getClass().getName() + " to "
        + actor.describe(request) + ", whose answer is a " + of(request).getName() + "; let its handler return that");
  }

  /** In terms of the type variables of whoever wrote {@code type}. */
  private static Type declared(Type type) {
    var raw = raw(type);
    if (raw == Request.class) return argument(type, 1);
    Type answer = Object.class;
    for (var above : raw.getGenericInterfaces()) if (isRequest(above)) answer = declared(above);
    if (isRequest(raw.getGenericSuperclass())) answer = declared(raw.getGenericSuperclass());
    int variable = Arrays.asList(raw.getTypeParameters()).indexOf(answer);
    return variable < 0 ? answer : argument(type, variable);
  }

  private static boolean isRequest(Type type) {
    return type != null && Request.class.isAssignableFrom(raw(type));
  }

  private static Type argument(Type type, int index) {
    return type instanceof ParameterizedType known ? known.getActualTypeArguments()[index] : Object.class;
  }

  private static Class<?> raw(Type type) {
    return type instanceof Class<?> known ? known
        : type instanceof ParameterizedType parameterized ? (Class<?>) parameterized.getRawType() : Object.class;
  }
}
