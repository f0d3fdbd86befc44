package io.fibry.codec;

import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A value of one of several types, as a map of one entry: from the name of its type to the value.
 * Changed only while the codec is made.
 */
final class ChoiceShape implements Shape {
  private record ChoiceForm(Class<?> type, Shape shape, Function<Object, Object> today) {
    Object read(ItemReader in, Consumer<String> unknown) {
      return today.apply(shape.read(in, unknown));
    }
  }

  private final String name;
  private final Map<Class<?>, String> names = new HashMap<>(); // names of the types that are written
  private final Map<String, List<ChoiceForm>> forms = new TreeMap<>(); // the form of today first

  ChoiceShape(String name) {
    this.name = name;
  }

  void add(Class<?> type, String typeName, Shape shape) {
    var before = forms.putIfAbsent(typeName, new ArrayList<>(List.of(new ChoiceForm(type, shape, value -> value))));
    if (before != null)
      throw new IllegalArgumentException(before.getFirst().type.getName() + " and " + type.getName()
          + " have the same name in bytes, '" + typeName + "'; give one another with named(..)");
    names.put(type, typeName);
  }

  /**
   * A form that is read, and no longer written. Bytes of it must not look like a form that is tried
   * before it: each of those needs a field that this one has not.
   */
  void addOld(String typeName, Class<?> type, RecordShape shape, Function<Object, Object> today) {
    var same = forms.computeIfAbsent(typeName, none -> new ArrayList<>());
    for (var other : same) {
      if (!(other.shape instanceof RecordShape record) || shape.names().containsAll(record.needed()))
        throw new IllegalArgumentException("bytes of " + type.getName() + " could be read as " + other.type.getName()
            + ", since it needs no field that they lack; give it another name with named(..)");
    }
    same.add(new ChoiceForm(type, shape, today));
  }

  @Override
  public void write(Object value, ItemWriter out) {
    Class<?> type = value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    String typeName = names.get(type);
    if (typeName == null) throw CodecException.here(type.getName() + " is no " + name);
    out.beginMap(1);
    out.text(typeName);
    try {
      forms.get(typeName).getFirst().shape.write(value, out);
    } catch (CodecException failure) {
      throw failure.in(typeName);
    }
    out.end();
  }

  @Override
  public Object read(ItemReader in, Consumer<String> unknown) {
    in.beginMap();
    if (!in.next()) throw oneEntry(in);
    String typeName = in.text();
    var known = forms.get(typeName);
    if (known == null)
      throw in.failure(
          "no type named '" + Lines.line(typeName) + "' is known; those of " + name + " are " + forms.keySet());
    try {
      var value = (known.size() == 1 ? known.getFirst() : fitting(in, known)).read(in, unknown);
      if (in.next()) throw oneEntry(in);
      in.end();
      return value;
    } catch (CodecException failure) {
      throw failure.in(typeName);
    }
  }

  private static CodecException oneEntry(ItemReader in) {
    return in.failure("a map of one entry, from the name of the type, was expected");
  }

  /**
   * Returns the first form whose fields are all there; otherwise the form of today, to say which
   * field is missing.
   */
  private static ChoiceForm fitting(ItemReader in, List<ChoiceForm> known) {
    var names = in.keys();
    return known.stream().filter(form -> names.containsAll(((RecordShape) form.shape).needed())).findFirst()
        .orElse(known.getFirst());
  }

  @Override
  public boolean fitsDepth(int levels) {
    return levels > 0 && today().anyMatch(form -> form.getValue().fitsDepth(levels - 1));
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    sampler.markSeen(this);
    var fitting = today().filter(form -> form.getValue().fitsDepth(levels - 1)).toList();
    var form = fitting.get(sampler.nextChoice(this, fitting.size()));
    sampler.out().beginMap(1);
    sampler.out().text(form.getKey());
    form.getValue().sample(sampler, levels - 1);
    sampler.out().end();
  }

  /** The forms that are written. */
  private Stream<Map.Entry<String, Shape>> today() {
    return names.values().stream().sorted().map(name -> Map.entry(name, forms.get(name).getFirst().shape));
  }

  @Override
  public String text() {
    return name;
  }

  String definition() {
    var choices = new ArrayList<String>();
    forms.forEach((typeName, same) -> {
      for (var form : same) {
        boolean old = names.get(form.type) == null;
        choices.add("'" + typeName + "' " + form.shape.text() + (old ? " (old)" : ""));
      }
    });
    return name + " = " + String.join(" | ", choices);
  }
}
