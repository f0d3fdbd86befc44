package io.fibry.simulation.agent;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.stream.Stream;

/**
 * One row of {@link RedirectTable}: a call of a method, or a read of a static field, becomes a call
 * of a static method.
 *
 * @param jdkVersions the versions of the JDK that have the method or field
 * @param owner the name of the class that declares the method or field, with slashes
 * @param name the name of the method or field
 * @param descriptor the descriptor of the method or field; only a method's begins with a
 * parenthesis
 * @param targetClass the name of the class with the static method, with slashes
 * @param targetMethod the static method's name
 * @param targetDescriptor the static method's descriptor; if the row redirects an instance method,
 * the first argument is the instance
 * @param classFilter the classes whose calls are redirected
 */
record Redirect(JdkVersions jdkVersions, String owner, String name, String descriptor, String targetClass,
    String targetMethod, String targetDescriptor,
    ClassFilter classFilter) {

  /** Versions of the JDK: 21, or 25 and later. Versions between these are not supported. */
  enum JdkVersions {
    ALL, JAVA_21, JAVA_25_OR_LATER;

    boolean has(int feature) {
      return this == ALL || this == JAVA_25_OR_LATER == feature >= 25;
    }
  }

  /** Chooses the classes whose calls are redirected. */
  interface ClassFilter {
    /** @param type the name of a class, with slashes */
    boolean accepts(String type);
  }

  /** Returns whether this JDK has the method or field that this row redirects. */
  boolean existsInJdk() {
    try {
      var declaringClass = Class.forName(owner.replace('/', '.'), false, null);
      return descriptor.startsWith("(")
          ? Stream.of(declaringClass.getDeclaredMethods(), declaringClass.getMethods()).flatMap(Stream::of)
              .anyMatch(this::matches)
          : Stream.of(declaringClass.getDeclaredFields())
              .anyMatch(field -> field.getName().equals(name) && field.getType().descriptorString().equals(descriptor));
    } catch (ClassNotFoundException missing) {
      return false;
    }
  }

  private boolean matches(Method method) {
    return method.getName().equals(name)
        && MethodType.methodType(method.getReturnType(), method.getParameterTypes()).descriptorString()
            .equals(descriptor);
  }

  /** Returns a text for an exception: the method or field that this JDK lacks. */
  @Override
  public String toString() {
    return owner.substring(owner.lastIndexOf('/') + 1) + " has no "
        + (descriptor.startsWith("(") ? "method" : "static field") + " `" + name + "` of the type " + descriptor;
  }
}
