package io.fibry.engine.message;

import io.fibry.Request;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;

/**
 * The answer's class, as the class of the request declares it. The compiler checks the class of an
 * answer that is given to {@code context.reply}, but not of an answer that a handler returns. An
 * {@code ActorWithReturn<M, R>}, whose handler returns an {@code R}, is also an {@code Actor<M>},
 * which can be asked a {@code Request<M, A>}. If the handler's answer is not an {@code A}, the
 * asker gets a {@link ClassCastException}.
 */
public final class AnswerType {
  private static final ClassValue<Class<?>> TYPES = new ClassValue<>() {
    @Override
    protected Class<?> computeValue(Class<?> request) {
      try {
        return rawClass(declaredAnswer(request));
      } catch (LinkageError | RuntimeException failure) { // a class that the declaration names cannot be loaded
        return Object.class;
      }
    }
  };

  private AnswerType() {}

  /**
   * {@return the declared class of the answer, or Object if the request declares no class of its
   * answer, or that class cannot be loaded}
   */
  public static Class<?> of(Object request) {
    return TYPES.get(request.getClass());
  }

  public static Object checkedAnswer(DescribedActor actor, Object request, Object answer) {
    if (of(request).isInstance(answer)) return answer;
    throw wrongAnswerException(actor, request, answer);
  }

  public static ClassCastException wrongAnswerException(DescribedActor actor, Object request, Object answer) {
    return new ClassCastException("actor '" + actor.name() + "' answered a " + answer.getClass().getName() + " to "
        + actor.describe(request) + ", whose answer is a " + of(request).getName()
        + "; let its handler return such an object");
  }

  /**
   * Returns the declared type of the answer. If {@code type} is a supertype in the declaration of a
   * class {@code C<X>}, the result may be the type variable {@code X}, which the caller replaces.
   */
  private static Type declaredAnswer(Type type) {
    var rawClass = rawClass(type);
    if (rawClass == Request.class) return typeArgument(type, 1);
    Type answer = Object.class;
    for (var parent : rawClass.getGenericInterfaces()) if (isRequest(parent)) answer = declaredAnswer(parent);
    if (isRequest(rawClass.getGenericSuperclass())) answer = declaredAnswer(rawClass.getGenericSuperclass());
    int index = Arrays.asList(rawClass.getTypeParameters()).indexOf(answer);
    return index < 0 ? answer : typeArgument(type, index);
  }

  private static boolean isRequest(Type type) {
    return type != null && Request.class.isAssignableFrom(rawClass(type));
  }

  private static Type typeArgument(Type type, int index) {
    return type instanceof ParameterizedType genericType ? genericType.getActualTypeArguments()[index] : Object.class;
  }

  private static Class<?> rawClass(Type type) {
    return type instanceof Class<?> plainClass ? plainClass
        : type instanceof ParameterizedType genericType ? (Class<?>) genericType.getRawType() : Object.class;
  }
}
