package io.fibry.durable.kind;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Recognizes objects that cannot be changed. */
public final class Immutability {
  private static final Set<Class<?>> JDK_VALUES =
      Set.of(String.class, Boolean.class, Character.class, Byte.class, Short.class, Integer.class, Long.class,
          Float.class, Double.class, BigInteger.class, BigDecimal.class, UUID.class, Optional.class);

  private Immutability() {}

  /**
   * Returns true only if the object certainly cannot be changed. Checks only the object's own
   * fields, not the objects to which they refer.
   */
  public static boolean isImmutable(Object object) {
    Class<?> type = object.getClass();
    if (JDK_VALUES.contains(type) || object instanceof Enum<?>) return true;
    if (type.getName().startsWith("java.util.ImmutableCollections$")) return true;
    if (type.getPackageName().equals("java.time")) return true;
    if (type.isArray() || type.getName().startsWith("java.")) return false;
    for (Class<?> declaring = type; declaring != Object.class; declaring = declaring.getSuperclass())
      if (!Arrays.stream(declaring.getDeclaredFields()).allMatch(Immutability::isImmutableField)) return false;
    return true;
  }

  private static boolean isImmutableField(Field field) {
    return Modifier.isStatic(field.getModifiers())
        || Modifier.isFinal(field.getModifiers()) && !field.getType().isArray();
  }
}
