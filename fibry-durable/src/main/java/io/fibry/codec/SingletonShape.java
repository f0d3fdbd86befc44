package io.fibry.codec;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The shape of a class that has only one object. It is written as an empty map, like a record
 * without components.
 */
record SingletonShape(Class<?> type, Object instance) implements Shape {
  private static final String INSTANCE_FIELD = "INSTANCE";

  /** Returns the shape of a class; empty if the class may have several objects, or has fields. */
  static Optional<SingletonShape> of(Class<?> type) {
    if (!Modifier.isFinal(type.getModifiers()) || type.isRecord() || hasFields(type)) return Optional.empty();
    return Arrays.stream(type.getDeclaredFields()).filter(field -> isInstanceField(field, type)).findFirst()
        .map(field -> new SingletonShape(type, readInstance(field)));
  }

  private static boolean hasFields(Class<?> type) {
    for (Class<?> current = type; current != null; current = current.getSuperclass())
      if (Arrays.stream(current.getDeclaredFields()).anyMatch(field -> !Modifier.isStatic(field.getModifiers())))
        return true;
    return false;
  }

  private static boolean isInstanceField(Field field, Class<?> type) {
    return field.getName().equals(INSTANCE_FIELD) && field.getType() == type && Modifier.isStatic(field.getModifiers())
        && Modifier.isFinal(field.getModifiers());
  }

  private static Object readInstance(Field constant) {
    try {
      constant.setAccessible(true);
      return constant.get(null);
    } catch (InaccessibleObjectException closed) {
      throw RecordShape.inaccessible(constant.getDeclaringClass(), closed);
    } catch (IllegalAccessException impossible) {
      throw new LinkageError(constant.toString(), impossible);
    }
  }

  @Override
  public void write(Object value, FormatWriter out) {
    out.beginMap(0);
    out.end();
  }

  @Override
  public Object read(FormatReader in, Consumer<String> unknown) {
    in.beginMap();
    while (in.next()) {
      unknown.accept(Shape.field(in.text(), type)); // a newer version of the class has fields
      in.skip();
    }
    in.end();
    return instance;
  }

  @Override
  public boolean fitsDepth(int levels) {
    return levels > 0;
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    write(instance, sampler.out());
  }

  @Override
  public String schemaText() {
    return type.getSimpleName();
  }

  /** Returns the line of this class in a schema. */
  String definition() {
    return type.getSimpleName() + "()";
  }
}
