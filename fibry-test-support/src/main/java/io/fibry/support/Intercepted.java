package io.fibry.support;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * An object whose calls pass through code of a test, which counts them, holds them up or lets them
 * fail. Its identity is its own: it equals only itself, as the key of a map.
 */
public final class Intercepted {
  private Intercepted() {}

  /** A call on its way to the real object. */
  @FunctionalInterface
  public interface Call {
    /** {@return what the real object returns, or throws} */
    Object pass() throws Throwable;
  }

  /** Runs on the caller's thread. */
  @FunctionalInterface
  public interface Code {
    /**
     * {@return what the caller gets}
     *
     * @param method which is called
     * @param given arguments; none: an empty array
     * @param call passes it on
     */
    Object on(Method method, Object[] given, Call call) throws Throwable;
  }

  /**
   * {@return an object in front of another one}
   *
   * @param <T> what they are
   * @param type an interface
   * @param real gets the calls that the code passes on
   * @param code runs for all calls but {@code equals} and {@code hashCode}
   */
  public static <T> T of(Class<T> type, T real, Code code) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
        (proxy, method, arguments) -> switch (method.getName()) {
          case "hashCode" -> System.identityHashCode(proxy);
          case "equals" -> proxy == arguments[0];
          default -> {
            var given = arguments == null ? new Object[0] : arguments;
            yield code.on(method, given, () -> pass(method, real, given));
          }
        }));
  }

  private static Object pass(Method method, Object real, Object[] given) throws Throwable {
    try {
      return method.invoke(real, given);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }
}
