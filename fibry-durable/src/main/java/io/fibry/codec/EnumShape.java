package io.fibry.codec;

import io.fibry.text.Lines;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** Writes a constant of an enum as its name. */
final class EnumShape implements Shape {
  private final Class<?> type;
  private final Map<String, Object> constants = new TreeMap<>(); // by encoded name
  private final Map<Object, String> names = new HashMap<>(); // encoded names, by constant

  EnumShape(Class<?> type, Function<Enum<?>, String> naming) {
    this.type = type;
    for (var constant : type.getEnumConstants()) {
      String name = naming.apply((Enum<?>) constant);
      if (constants.put(name, constant) != null) throw new IllegalArgumentException(
          "two constants of " + type.getName() + " have the same name in bytes, '" + name
              + "'; give one of them another name");
      names.put(constant, name);
    }
    if (names.isEmpty()) throw new IllegalArgumentException(type.getName() + " has no constants, so it has no values");
  }

  @Override
  public void write(Object value, FormatWriter out) {
    String name = names.get(value);
    if (name == null) throw CodecException.ofFault(value.getClass().getName() + " is no " + type.getSimpleName());
    out.text(name);
  }

  @Override
  public Object read(FormatReader in, Consumer<String> unknown) {
    String name = in.text();
    var constant = constants.get(name);
    if (constant == null)
      throw in
          .failure("'" + Lines.line(name) + "' is no " + type.getSimpleName() + "; there are " + constants.keySet());
    return constant;
  }

  @Override
  public boolean isKey() {
    return true;
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    sampler.markSeen(this);
    var constantNames = constants.keySet().toArray(String[]::new);
    sampler.out().text(constantNames[sampler.nextChoice(this, constantNames.length)]);
  }

  @Override
  public String schemaText() {
    return type.getSimpleName();
  }

  /** Returns the line of this enum in a schema. */
  String definition() {
    return type.getSimpleName() + " = " + String.join(" | ", Arrays.asList(constants.keySet().toArray(String[]::new)));
  }
}
