package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

/**
 * Finds private classes and members of the JDK, after the agent has opened them to this package. If
 * one is missing, each method throws an {@link UnsupportedOperationException} that names it.
 */
public final class JdkInternals {
  private JdkInternals() {}

  /** Returns a class by its binary name. */
  public static Class<?> type(String name) {
    try {
      return Class.forName(name, false, null);
    } catch (ClassNotFoundException missing) {
      throw missing("there is no class " + name, missing);
    }
  }

  /** Returns access to an instance field. */
  public static VarHandle field(Class<?> owner, String name, Class<?> type) {
    return find(owner, "field `" + name + "`", lookup -> lookup.findVarHandle(owner, name, type));
  }

  /** Returns access to a static field. */
  public static VarHandle staticField(Class<?> owner, String name, Class<?> type) {
    return find(owner, "static field `" + name + "`", lookup -> lookup.findStaticVarHandle(owner, name, type));
  }

  /** Returns an instance method. */
  public static MethodHandle method(Class<?> owner, String name, Class<?> result, Class<?>... parameters) {
    return find(owner, "method `" + name + "`",
        lookup -> lookup.findVirtual(owner, name, MethodType.methodType(result, parameters)));
  }

  /** Returns a static method. */
  public static MethodHandle staticMethod(Class<?> owner, String name, Class<?> result, Class<?>... parameters) {
    return find(owner, "static method `" + name + "`",
        lookup -> lookup.findStatic(owner, name, MethodType.methodType(result, parameters)));
  }

  /** Returns a constructor. */
  public static MethodHandle constructor(Class<?> owner, Class<?>... parameters) {
    return find(owner, "constructor that takes " + MethodType.methodType(void.class, parameters),
        lookup -> lookup.findConstructor(owner, MethodType.methodType(void.class, parameters)));
  }

  /**
   * Returns the getter of a lambda's only field, which holds the value that the lambda has
   * captured.
   */
  public static MethodHandle capturedGetter(Class<?> lambda) {
    return find(lambda, "field for the value that it captured", lookup -> {
      var fields = lambda.getDeclaredFields();
      if (fields.length != 1) throw new NoSuchFieldException(fields.length + " fields instead of one");
      return getter(fields[0]);
    });
  }

  /**
   * Returns the getter of a field. A lookup by name would find no field of a hidden class, such as
   * a lambda's class.
   */
  private static MethodHandle getter(java.lang.reflect.Field field) throws IllegalAccessException {
    field.setAccessible(true);
    return MethodHandles.lookup().unreflectGetter(field);
  }

  /**
   * Returns the exception for a missing part of the JDK, without which nothing can be simulated.
   */
  public static UnsupportedOperationException missing(String problem, Throwable cause) {
    return new UnsupportedOperationException("cannot simulate on Java " + Runtime.version().feature() + ": " + problem
        + "; run on Java 21 or 25, or with a fibry-simulation made for this Java", cause);
  }

  private static <T> T find(Class<?> owner, String member, MemberLookup<T> search) {
    try {
      return search.by(MethodHandles.privateLookupIn(owner, MethodHandles.lookup()));
    } catch (ReflectiveOperationException missing) {
      var name = owner.getName();
      throw missing(name.substring(name.lastIndexOf('.') + 1) + " has no " + member, missing);
    }
  }

  private interface MemberLookup<T> {
    T by(Lookup lookup) throws ReflectiveOperationException;
  }
}
