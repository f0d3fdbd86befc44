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
 * The shape of values that may have several types. A value is written as a map with one entry,
 * whose key is the name of the value's type. Forms are added only while the codec is made.
 */
final class ChoiceShape implements Shape {
  private record ChoiceForm(Class<?> type, Shape shape, Function<Object, Object> toCurrent) {
    Object read(FormatReader in, Consumer<String> unknown) {
      return toCurrent.apply(shape.read(in, unknown));
    }
  }

  private final String name;
  private final Map<Class<?>, String> names = new HashMap<>(); // encoded names, by type, without old forms
  // by encoded name: first the form that is written, if there is one, then the old forms
  private final Map<String, List<ChoiceForm>> forms = new TreeMap<>();

  ChoiceShape(String name) {
    this.name = name;
  }

  void add(Class<?> type, String typeName, Shape shape) {
    var existing = forms.putIfAbsent(typeName, new ArrayList<>(List.of(new ChoiceForm(type, shape, value -> value))));
    if (existing != null)
      throw new IllegalArgumentException(existing.getFirst().type.getName() + " and " + type.getName()
          + " have the same name in bytes, '" + typeName + "'; give one of them another name with named(..)");
    names.put(type, typeName);
  }

  /**
   * Adds a form that is read, but no longer written. Its bytes must not be readable as an earlier
   * form of the same name. Therefore each earlier form must require a field that this form lacks.
   *
   * @param convert makes a value of a current type from a value of the old form
   */
  void addOld(String typeName, Class<?> type, RecordShape shape, Function<Object, Object> convert) {
    var formsOfName = forms.computeIfAbsent(typeName, key -> new ArrayList<>());
    for (var earlier : formsOfName) {
      String reason = "";
      if (earlier.shape instanceof RecordShape record) {
        if (!shape.fieldNames().containsAll(record.requiredFields())) continue;
        reason = ", because " + type.getName() + " has all fields that " + earlier.type.getName() + " requires";
      }
      throw new IllegalArgumentException("bytes of " + type.getName() + " could be read as " + earlier.type.getName()
          + reason + "; give one of the types another name");
    }
    formsOfName.add(new ChoiceForm(type, shape, convert));
  }

  @Override
  public void write(Object value, FormatWriter out) {
    Class<?> type = value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    String typeName = names.get(type);
    if (typeName == null) throw CodecException.ofFault(type.getName() + " is no " + name);
    out.beginMap(1);
    out.text(typeName);
    try {
      forms.get(typeName).getFirst().shape.write(value, out);
    } catch (CodecException failure) {
      throw failure.enclosedBy(typeName);
    }
    out.end();
  }

  @Override
  public Object read(FormatReader in, Consumer<String> unknown) {
    in.beginMap();
    if (!in.next()) throw oneEntryExpected(in);
    String typeName = in.text();
    var candidates = forms.get(typeName);
    if (candidates == null)
      throw in.failure(
          "no type named '" + Lines.line(typeName) + "' is known; the types of " + name + " are " + forms.keySet());
    try {
      var value = (candidates.size() == 1 ? candidates.getFirst() : chooseForm(in, candidates)).read(in, unknown);
      if (in.next()) throw oneEntryExpected(in);
      in.end();
      return value;
    } catch (CodecException failure) {
      throw failure.enclosedBy(typeName);
    }
  }

  private static CodecException oneEntryExpected(FormatReader in) {
    return in.failure("a map of one entry, whose key is the name of the type, was expected");
  }

  /**
   * Returns the first form whose required fields are all present in the next item. If there is
   * none, returns the first form: reading it then fails with the name of the missing field.
   */
  private static ChoiceForm chooseForm(FormatReader in, List<ChoiceForm> candidates) {
    var fieldNames = in.keys();
    return candidates.stream().filter(form -> fieldNames.containsAll(((RecordShape) form.shape).requiredFields()))
        .findFirst()
        .orElse(candidates.getFirst());
  }

  @Override
  public boolean fitsDepth(int levels) {
    return levels > 0 && currentForms().anyMatch(form -> form.getValue().fitsDepth(levels - 1));
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    sampler.markSeen(this);
    var fittingForms = currentForms().filter(form -> form.getValue().fitsDepth(levels - 1)).toList();
    var form = fittingForms.get(sampler.nextChoice(this, fittingForms.size()));
    sampler.out().beginMap(1);
    sampler.out().text(form.getKey());
    form.getValue().sample(sampler, levels - 1);
    sampler.out().end();
  }

  @Override
  public String sampleName(FormatReader in) {
    in.beginMap();
    in.next();
    return in.text();
  }

  /** Returns the shapes of the forms that are written, with their encoded names, sorted by name. */
  private Stream<Map.Entry<String, Shape>> currentForms() {
    return names.values().stream().sorted().map(typeName -> Map.entry(typeName, forms.get(typeName).getFirst().shape));
  }

  @Override
  public String schemaText() {
    return name;
  }

  /** Returns the line of this shape in a schema. */
  String definition() {
    var choices = new ArrayList<String>();
    forms.forEach((typeName, formsOfName) -> {
      for (var form : formsOfName) {
        boolean isOld = names.get(form.type) == null;
        choices.add("'" + typeName + "' " + form.shape.schemaText() + (isOld ? " (old)" : ""));
      }
    });
    return name + " = " + String.join(" | ", choices);
  }
}
