package io.fibry.codec;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/** A class that has one object, as a map of no entries, like a record without components. */
record SingletonShape(Class<?> type, Object one) implements Shape {
  private static final String CONSTANT = "INSTANCE";

  /** Empty if there may be several objects, or if they may differ. */
  static Optional<SingletonShape> of(Class<?> type) {
    if (!Modifier.isFinal(type.getModifiers()) || type.isRecord() || hasState(type)) return Optional.empty();
    return Arrays.stream(type.getDeclaredFields()).filter(field -> isConstant(field, type)).findFirst()
        .map(field -> new SingletonShape(type, value(field)));
  }

  private static boolean hasState(Class<?> type) {
    for (Class<?> each = type; each != null; each = each.getSuperclass())
      if (Arrays.stream(each.getDeclaredFields()).anyMatch(field -> !Modifier.isStatic(field.getModifiers())))
        return true;
    return false;
  }

  private static boolean isConstant(Field field, Class<?> type) {
    return field.getName().equals(CONSTANT) && field.getType() == type && Modifier.isStatic(field.getModifiers())
        && Modifier.isFinal(field.getModifiers());
  }

  private static Object value(Field constant) {
    try {
      constant.setAccessible(true);
      return constant.get(null);
    } catch (InaccessibleObjectException closed) {
      throw RecordShape.closed(constant.getDeclaringClass(), closed);
    } catch (IllegalAccessException impossible) {
      throw new LinkageError(constant.toString(), impossible);
    }
  }

  @Override
  public void write(Object value, ItemWriter out) {
    out.beginMap(0);
    out.end();
  }

  @Override
  public Object read(ItemReader in, Consumer<String> unknown) {
    in.beginMap();
    while (in.next()) {
      unknown.accept(Shape.field(in.text(), type)); // written by a newer form
      in.skip();
    }
    in.end();
    return one;
  }

  @Override
  public boolean fitsDepth(int levels) {
    return levels > 0;
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    write(one, sampler.out());
  }

  @Override
  public String text() {
    return type.getSimpleName();
  }

  /** For a schema. */
  String definition() {
    return type.getSimpleName() + "()";
  }
}
