package io.fibry.simulation.agent;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.stream.Stream;

/**
 * One row of {@link RedirectTable}: a use of a method or the reading of a static field becomes the
 * call of a static method.
 *
 * @param jdks the versions of the JDK that have the method
 * @param owner the name of the class that declares it, with slashes
 * @param name the name of the method or field
 * @param type its descriptor; a field's has no parentheses
 * @param target the class with the static method
 * @param method the static method's name
 * @param call its descriptor: an instance is its first argument
 * @param where which classes are changed
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

  /** Whether a class is changed, by its name with slashes. */
  interface ClassFilter {
    boolean changes(String type);
  }

  /** Whether the JDK has what this redirects. */
  boolean existsInJdk() {
    try {
      var declarer = Class.forName(owner.replace('/', '.'), false, null);
      return type.startsWith("(")
          ? Stream.of(declarer.getDeclaredMethods(), declarer.getMethods()).flatMap(Stream::of).anyMatch(this::is)
          : Stream.of(declarer.getDeclaredFields())
              .anyMatch(field -> field.getName().equals(name) && field.getType().descriptorString().equals(type));
    } catch (ClassNotFoundException missing) {
      return false;
    }
  }

  private boolean is(Method method) {
    return method.getName().equals(name)
        && MethodType.methodType(method.getReturnType(), method.getParameterTypes()).descriptorString().equals(type);
  }

  @Override
  public String toString() {
    return owner.substring(owner.lastIndexOf('/') + 1) + " has no "
        + (type.startsWith("(") ? "method" : "static field") + " `" + name + "` of the type " + type;
  }
}
