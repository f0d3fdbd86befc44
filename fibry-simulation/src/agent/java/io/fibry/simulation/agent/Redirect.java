package io.fibry.simulation.agent;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.stream.Stream;

/**
 * One row of {@link RedirectTable}: a call of a method, or a read of a static field, becomes a call
 * of a static method.
 *
 * @param jdks the versions of the JDK that have the method
 * @param owner the name of the class that declares the method or field, with slashes
 * @param name the name of the method or field
 * @param type the descriptor of the method or field; only a method's begins with a parenthesis
 * @param target the name of the class with the static method, with slashes
 * @param method the static method's name
 * @param call the static method's descriptor; its first argument is the instance, if there is one
 * @param where the classes whose calls are redirected
 */
record Redirect(JdkVersions jdks, String owner, String name, String type, String target, String method, String call,
    ClassFilter where) {

  /** Versions of the JDK: 21, or 25 and later. Versions between these are not supported. */
  enum JdkVersions {
    ALL, EARLIER, LATER;

    boolean has(int feature) {
      return this == ALL || this == LATER == feature >= 25;
    }
  }

  /** Chooses the classes whose calls are redirected. */
  interface ClassFilter {
    /** @param type the name of a class, with slashes */
    boolean changes(String type);
  }

  /** Returns whether this JDK has the method or field that this row redirects. */
  boolean existsInJdk() {
    try {
      var declaringClass = Class.forName(owner.replace('/', '.'), false, null);
      return type.startsWith("(")
          ? Stream.of(declaringClass.getDeclaredMethods(), declaringClass.getMethods()).flatMap(Stream::of)
              .anyMatch(this::matches)
          : Stream.of(declaringClass.getDeclaredFields())
              .anyMatch(field -> field.getName().equals(name) && field.getType().descriptorString().equals(type));
    } catch (ClassNotFoundException missing) {
      return false;
    }
  }

  private boolean matches(Method method) {
    return method.getName().equals(name)
        && MethodType.methodType(method.getReturnType(), method.getParameterTypes()).descriptorString().equals(type);
  }

  /** Returns the text of an exception, for a JDK in which {@link #existsInJdk} is false. */
  @Override
  public String toString() {
    return owner.substring(owner.lastIndexOf('/') + 1) + " has no "
        + (type.startsWith("(") ? "method" : "static field") + " `" + name + "` of the type " + type;
  }
}
