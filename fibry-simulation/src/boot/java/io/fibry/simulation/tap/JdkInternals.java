package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

/**
 * Finds private parts of the JDK, once the agent has opened them to this package. All methods fail
 * with {@link UnsupportedOperationException} where a part is missing, and name it.
 */
public final class JdkInternals {
  private JdkInternals() {}

  /** A class by its binary name. */
  public static Class<?> type(String name) {
    try {
      return Class.forName(name, false, null);
    } catch (ClassNotFoundException missing) {
      throw missing("there is no class " + name, missing);
    }
  }

  /** A field of an instance. */
  public static VarHandle field(Class<?> in, String name, Class<?> type) {
    return find(in, "field `" + name + "`", lookup -> lookup.findVarHandle(in, name, type));
  }

  /** A static field. */
  public static VarHandle shared(Class<?> in, String name, Class<?> type) {
    return find(in, "static field `" + name + "`", lookup -> lookup.findStaticVarHandle(in, name, type));
  }

  /** A method of an instance. */
  public static MethodHandle method(Class<?> in, String name, Class<?> result, Class<?>... parameters) {
    return find(in, "method `" + name + "`",
        lookup -> lookup.findVirtual(in, name, MethodType.methodType(result, parameters)));
  }

  /** A static method. */
  public static MethodHandle function(Class<?> in, String name, Class<?> result, Class<?>... parameters) {
    return find(in, "static method `" + name + "`",
        lookup -> lookup.findStatic(in, name, MethodType.methodType(result, parameters)));
  }

  /** A constructor. */
  public static MethodHandle constructor(Class<?> in, Class<?>... parameters) {
    return find(in, "constructor that takes " + MethodType.methodType(void.class, parameters),
        lookup -> lookup.findConstructor(in, MethodType.methodType(void.class, parameters)));
  }

  /** The only field of a class: what a lambda of the JDK has captured. */
  public static MethodHandle captured(Class<?> lambda) {
    return find(lambda, "field for what it captured", lookup -> {
      var fields = lambda.getDeclaredFields();
      if (fields.length != 1) throw new NoSuchFieldException("it has " + fields.length);
      return reader(fields[0]);
    });
  }

  /** A lookup does not find the fields of hidden classes, such as those of lambdas, by name. */
  private static MethodHandle reader(java.lang.reflect.Field field) throws IllegalAccessException {
    field.setAccessible(true);
    return MethodHandles.lookup().unreflectGetter(field);
  }

  /** Says which part of the JDK is missing, so that it cannot be simulated. */
  public static UnsupportedOperationException missing(String what, Throwable cause) {
    return new UnsupportedOperationException("cannot simulate on Java " + Runtime.version().feature() + ": " + what
        + "; run on Java 21 or 25, or with a fibry-simulation made for this Java", cause);
  }

  private static <T> T find(Class<?> in, String part, MemberLookup<T> search) {
    try {
      return search.by(MethodHandles.privateLookupIn(in, MethodHandles.lookup()));
    } catch (ReflectiveOperationException missing) {
      var name = in.getName();
      throw missing(name.substring(name.lastIndexOf('.') + 1) + " has no " + part, missing);
    }
  }

  private interface MemberLookup<T> {
    T by(Lookup lookup) throws ReflectiveOperationException;
  }
}
