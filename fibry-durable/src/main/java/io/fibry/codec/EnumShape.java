package io.fibry.codec;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** An enum, as the name of its constant. */
final class EnumShape implements Shape {
  private final Class<?> type;
  private final Map<String, Object> constants = new TreeMap<>();

  EnumShape(Class<?> type) {
    this.type = type;
    for (var constant : type.getEnumConstants()) constants.put(((Enum<?>) constant).name(), constant);
  }

  @Override
  public void write(Object value, CborWriter out) {
    out.text(((Enum<?>) value).name());
  }

  @Override
  public Object read(CborReader in) {
    String name = in.text();
    var constant = constants.get(name);
    if (constant == null)
      throw in.failure("'" + name + "' is no " + type.getSimpleName() + "; there are " + constants.keySet());
    return constant;
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    var names = constants.keySet().toArray(String[]::new);
    sampler.out().text(names[sampler.next(this, names.length)]);
  }

  @Override
  public String text() {
    return type.getSimpleName();
  }

  String definition() {
    return type.getSimpleName() + " = " + String.join(" | ", Arrays.asList(constants.keySet().toArray(String[]::new)));
  }
}
