package io.fibry.durable;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Tells objects that cannot be changed. */
final class Immutability {
  private static final Set<Class<?>> JDK_VALUES =
      Set.of(String.class, Boolean.class, Character.class, Byte.class, Short.class, Integer.class, Long.class,
          Float.class, Double.class, BigInteger.class, BigDecimal.class, UUID.class, Optional.class);

  private Immutability() {}

  /**
   * Returns false if the object can be changed, or if that is not known. Looks at the object's own
   * fields only.
   */
  static boolean isImmutable(Object one) {
    Class<?> type = one.getClass();
    if (JDK_VALUES.contains(type) || one instanceof Enum<?>) return true;
    if (type.getName().startsWith("java.util.ImmutableCollections$")) return true;
    if (type.getPackageName().equals("java.time")) return true;
    if (type.isArray() || type.getName().startsWith("java.")) return false;
    for (Class<?> each = type; each != Object.class; each = each.getSuperclass())
      if (!Arrays.stream(each.getDeclaredFields()).allMatch(Immutability::isImmutableField)) return false;
    return true;
  }

  private static boolean isImmutableField(Field field) {
    return Modifier.isStatic(field.getModifiers())
        || Modifier.isFinal(field.getModifiers()) && !field.getType().isArray();
  }
}
