package io.fibry.support;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Makes a proxy whose calls pass through code of a test. The code counts them, delays them or lets
 * them fail. The proxy equals only itself, so it can be the key of a map.
 */
public final class Intercepted {
  private Intercepted() {}

  /** A call that has reached the test's code, and not yet the real object. */
  @FunctionalInterface
  public interface Call {
    /** Calls the real object, and returns its result or throws its exception. */
    Object pass() throws Throwable;
  }

  /** The test's code for each call. It runs on the caller's thread. */
  @FunctionalInterface
  public interface Code {
    /**
     * Handles a call, and returns the result for the caller.
     *
     * @param method the called method
     * @param arguments the arguments of the call; empty if there are none
     * @param call the call, which the code may pass on to the real object
     */
    Object handle(Method method, Object[] arguments, Call call) throws Throwable;
  }

  /**
   * Returns a proxy for an object.
   *
   * @param <T> the interface of the proxy and of the object
   * @param type the interface
   * @param real the object that gets the calls that the code passes on
   * @param code the code that runs for all calls except {@code equals} and {@code hashCode}
   */
  public static <T> T of(Class<T> type, T real, Code code) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
        (proxy, method, arguments) -> switch (method.getName()) {
          case "hashCode" -> System.identityHashCode(proxy);
          case "equals" -> proxy == arguments[0];
          default -> {
            var notNullArguments = arguments == null ? new Object[0] : arguments;
            yield code.handle(method, notNullArguments, () -> pass(method, real, notNullArguments));
          }
        }));
  }

  private static Object pass(Method method, Object real, Object[] arguments) throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException wrapper) {
      throw wrapper.getCause();
    }
  }
}
