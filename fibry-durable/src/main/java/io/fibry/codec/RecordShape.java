package io.fibry.codec;

import io.fibry.text.Lines;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes a record as a map from the names of its components to their values. Fields are added only
 * while the codec is made.
 */
final class RecordShape implements Shape {
  private record RecordField(String name, MethodHandle accessor, Shape shape) {}

  private final Class<?> type;
  private final Set<String> ignoredFields; // encoded names of fields that earlier versions of the type had
  private final MethodHandle constructor; // Object[] -> Object
  private final List<RecordField> fields = new ArrayList<>();
  private final Map<String, Integer> indexes = new HashMap<>(); // by encoded name: the index in `fields`

  RecordShape(Class<?> type, Set<String> ignoredFields) {
    this.type = type;
    this.ignoredFields = ignoredFields;
    this.constructor = constructor(type);
  }

  /** Adds a field; called in the order of the components. */
  void add(String name, RecordComponent component, Shape shape) {
    if (indexes.put(name, fields.size()) != null)
      throw new IllegalArgumentException("two components of " + type.getName() + " have the same name in bytes, '"
          + name + "'; give one of them another name");
    if (ignoredFields.contains(name)) throw new IllegalArgumentException(
        Shape.field(name, type) + " exists, so it is not removed; leave out evolution.ignoreRemoved(..) for it");
    fields.add(new RecordField(name, accessor(component), shape));
  }

  private static MethodHandle constructor(Class<?> type) {
    var components = type.getRecordComponents();
    var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      var canonical = type.getDeclaredConstructor(types);
      canonical.setAccessible(true);
      return MethodHandles.lookup().unreflectConstructor(canonical).asFixedArity()
          .asType(MethodType.genericMethodType(types.length)).asSpreader(Object[].class, types.length);
    } catch (InaccessibleObjectException closed) {
      throw inaccessible(type, closed);
    } catch (ReflectiveOperationException impossible) {
      throw new LinkageError(type.getName(), impossible);
    }
  }

  private static MethodHandle accessor(RecordComponent component) {
    try {
      component.getAccessor().setAccessible(true);
      return MethodHandles.lookup().unreflect(component.getAccessor()).asType(MethodType.genericMethodType(1));
    } catch (IllegalAccessException impossible) {
      throw new LinkageError(component.toString(), impossible);
    }
  }

  static IllegalArgumentException inaccessible(Class<?> type, Exception cause) {
    return new IllegalArgumentException(type.getName() + " cannot be read or made by Fibry; add 'opens "
        + type.getPackageName() + " to io.fibry.durable' to its module", cause);
  }

  /** Returns the encoded names of the fields that must not be missing in the bytes of a record. */
  Set<String> requiredFields() {
    return fields.stream().filter(field -> field.shape.valueIfMissing() == null).map(RecordField::name)
        .collect(Collectors.toSet());
  }

  Set<String> fieldNames() {
    return indexes.keySet();
  }

  @Override
  public void write(Object value, FormatWriter out) {
    out.beginMap(fields.size());
    for (var field : fields) {
      try {
        Object fieldValue = read(value, field);
        if (fieldValue == null) throw CodecException.ofFault("it is null; an Optional can be empty");
        out.text(field.name);
        field.shape.write(fieldValue, out);
      } catch (CodecException failure) {
        throw failure.enclosedBy(field.name);
      } catch (ClassCastException polluted) { // code with raw types has put a wrong value into the record
        throw CodecException.ofFault("it has a value of a wrong type: " + Lines.message(polluted))
            .enclosedBy(field.name);
      }
    }
    out.end();
  }

  private static Object read(Object value, RecordField field) {
    try {
      return (Object) field.accessor.invokeExact(value);
    } catch (Throwable thrown) {
      throw thrownBy(thrown, "the accessor of " + field.name);
    }
  }

  @Override
  public Object read(FormatReader in, Consumer<String> unknown) {
    var values = new Object[fields.size()];
    int likelyIndex = 0; // fields are usually read in the order in which they were written
    in.beginMap();
    while (in.next()) {
      String name = likelyIndex < values.length ? in.text(fields.get(likelyIndex++).name) : in.text();
      var index = indexes.get(name);
      if (index == null) skip(in, name, unknown);
      else if (values[index] != null) throw in.failure("field " + name + " occurs twice");
      else values[index] = read(in, fields.get(index), unknown);
    }
    in.end();
    for (int i = 0; i < values.length; i++) if (values[i] == null) values[i] = valueOfMissing(in, fields.get(i));
    try {
      return constructor.invokeExact(values);
    } catch (Throwable thrown) {
      throw thrownBy(thrown, "the constructor of " + type.getSimpleName());
    }
  }

  /** Skips a field that this record lacks. Reports it unless it is known to be removed. */
  private void skip(FormatReader in, String name, Consumer<String> unknown) {
    if (!ignoredFields.contains(name)) unknown.accept(Shape.field(name, type));
    in.skip();
  }

  private static Object read(FormatReader in, RecordField field, Consumer<String> unknown) {
    try {
      return field.shape.read(in, unknown);
    } catch (CodecException failure) {
      throw failure.enclosedBy(field.name);
    }
  }

  private Object valueOfMissing(FormatReader in, RecordField field) {
    Object substitute = field.shape.valueIfMissing();
    if (substitute == null) throw in.failure("field " + field.name + " of " + type.getSimpleName() + " is missing");
    return substitute;
  }

  private static CodecException thrownBy(Throwable thrown, String source) {
    if (thrown instanceof Error error) throw error;
    // the text begins with a colon, because the codec puts the path of the faulty value in front of
    // the text
    return new CodecException(": " + source + " threw " + Lines.thrown(thrown), thrown);
  }

  @Override
  public boolean fitsDepth(int levels) {
    return levels > 0 && fields.stream().allMatch(field -> field.shape.fitsDepth(levels - 1));
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    sampler.markSeen(this);
    sampler.out().beginMap(fields.size());
    for (var field : fields) {
      sampler.out().text(field.name);
      field.shape.sample(sampler, levels - 1);
    }
    sampler.out().end();
  }

  @Override
  public String schemaText() {
    return type.getSimpleName();
  }

  /** Returns the line of this record in a schema. */
  String definition() {
    var fieldTexts = Stream.concat(fields.stream().map(field -> field.name + ": " + field.shape.schemaText()),
        ignoredFields.stream().sorted().map(name -> name + " (removed)"));
    return fieldTexts.collect(Collectors.joining(", ", type.getSimpleName() + "(", ")"));
  }
}
