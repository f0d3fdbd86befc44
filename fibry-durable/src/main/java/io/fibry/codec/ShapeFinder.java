package io.fibry.codec;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Finds the shapes of types. One for each codec; of one thread. */
final class ShapeFinder {
  /** A type without type variables. */
  private record ResolvedType(Class<?> raw, List<ResolvedType> arguments) {
    private int depth() {
      return 1 + arguments.stream().mapToInt(ResolvedType::depth).max().orElse(0);
    }

    private ResolvedType argument(int index) {
      return arguments.get(index);
    }
  }

  private final Map<Class<?>, String> named;
  private final Map<Class<?>, Set<String>> ignoredFields; // fields of records
  private final Format format;
  // Includes shapes that are being made, since a type may contain itself
  private final Map<ResolvedType, Shape> made = new HashMap<>();
  private final Set<Class<?>> choices = new HashSet<>();
  private final List<Supplier<String>> definitions = new ArrayList<>();

  ShapeFinder(SchemaEvolution<?> forms, Format format) {
    this.named = forms.named;
    this.ignoredFields = forms.ignoredFields;
    this.format = format;
  }

  /** Returns the shape of a whole value; a record is stored with its name. */
  Shape root(Class<?> type) {
    var known = resolve(type, Map.of(), type.getTypeName());
    var shape = of(known, type.getTypeName());
    if (!(shape instanceof RecordShape || shape instanceof SingletonShape)) return shape;
    var choice = new ChoiceShape(type.getSimpleName());
    choice.add(type, name(type), shape);
    definitions.add(choice::definition);
    return choice;
  }

  /** Returns the shape of a form that is no longer written. */
  RecordShape old(Class<?> type) {
    return (RecordShape) of(resolve(type, Map.of(), type.getTypeName()), type.getTypeName());
  }

  /** All types, a line each, in an order that does not change. */
  String schema() {
    return String.join("\n", definitions.stream().map(Supplier::get).sorted().distinct().toList()) + "\n";
  }

  /** The records, enums and choices so far. */
  Set<Shape> allShapes() {
    return Set.copyOf(made.values());
  }

  /** Whether it is a record that bytes may have. */
  boolean isRecord(Class<?> type) {
    return made.entrySet().stream()
        .anyMatch(one -> one.getKey().raw == type && one.getValue() instanceof RecordShape);
  }

  /** Whether its name can be in bytes. */
  boolean isNamed(Class<?> type) {
    return choices.contains(type);
  }

  private String name(Class<?> type) {
    choices.add(type);
    return named.getOrDefault(type, type.getSimpleName());
  }

  private Shape of(ResolvedType type, String where) {
    var present = made.get(type);
    if (present != null) return present;
    if (type.depth() > Format.MAX_DEPTH) throw new IllegalArgumentException(where + ": " + type.raw.getTypeName()
        + " has type arguments more than " + Format.MAX_DEPTH + " deep; let them end");
    return make(type, where);
  }

  private Shape make(ResolvedType type, String where) {
    Class<?> raw = type.raw;
    var whole = format.example(raw);
    if (whole.isPresent()) return new OpaqueShape(raw, whole.get());
    var scalar = ScalarShapes.of(raw);
    if (scalar != null) return scalar;
    if (raw.isArray())
      return new ContainerShapes.ArrayShape(raw.getComponentType(), item(raw.getComponentType(), where));
    if (raw == List.class || raw == Collection.class) return new ContainerShapes.ListShape(item(type, 0, where));
    if (raw == Set.class) return new ContainerShapes.SetShape(item(type, 0, where));
    if (raw == Map.class) return new ContainerShapes.MapShape(key(type, where), item(type, 1, where));
    if (raw == Optional.class) {
      if (type.argument(0).raw == Optional.class) throw refused(where, "an Optional of an Optional");
      return new ContainerShapes.OptionalShape(item(type, 0, where));
    }
    if (raw.isRecord()) return record(type);
    if (raw.isEnum()) return constants(type);
    if (raw.isSealed()) return choice(type, where);
    return singleton(type, where);
  }

  private Shape singleton(ResolvedType type, String where) {
    var shape = SingletonShape.of(type.raw).orElseThrow(() -> refused(where, type.raw.getTypeName() + hint(type.raw)));
    definitions.add(shape::definition);
    return shape;
  }

  private Shape key(ResolvedType map, String where) {
    var key = item(map, 0, where);
    if (format.hasAnyKey() || key.isKey()) return key;
    throw new IllegalArgumentException(where + ": a map from " + map.argument(0).raw.getTypeName() + " has no form in "
        + format.name() + ", where keys are texts; use a list of records that have key and value");
  }

  private Shape item(ResolvedType container, int index, String where) {
    return of(container.argument(index), where);
  }

  private Shape item(Class<?> type, String where) {
    return of(resolve(type, Map.of(), where), where);
  }

  private Shape constants(ResolvedType type) {
    var shape = new EnumShape(type.raw, constant -> SchemaEvolution.checkName(format.nameOf(constant), type.raw));
    made.put(type, shape);
    definitions.add(shape::definition);
    return shape;
  }

  private Shape record(ResolvedType type) {
    var shape = new RecordShape(type.raw, ignoredFields.getOrDefault(type.raw, Set.of()));
    made.put(type, shape);
    definitions.add(shape::definition);
    var bound = bound(type);
    for (var component : type.raw.getRecordComponents()) {
      String where = type.raw.getName() + "." + component.getName();
      shape.add(SchemaEvolution.checkName(format.nameOf(component), type.raw), component,
          of(resolve(component.getGenericType(), bound, where), where));
    }
    return shape;
  }

  private Shape choice(ResolvedType type, String where) {
    var shape = new ChoiceShape(type.raw.getSimpleName());
    made.put(type, shape);
    definitions.add(shape::definition);
    addAll(type, shape, where);
    return shape;
  }

  private void addAll(ResolvedType type, ChoiceShape shape, String where) {
    for (var permitted : type.raw.getPermittedSubclasses()) {
      var known = permitted(permitted, type, where);
      if (permitted.isSealed() && format.example(permitted).isEmpty()) addAll(known, shape, where);
      else shape.add(permitted, name(permitted), of(known, where));
    }
  }

  /** A subtype, with the arguments that it gets from its supertype. */
  private static ResolvedType permitted(Class<?> subtype, ResolvedType supertype, String where) {
    var bound = new HashMap<TypeVariable<?>, ResolvedType>();
    Stream.concat(Stream.of(subtype.getGenericInterfaces()), Stream.ofNullable(subtype.getGenericSuperclass()))
        .filter(type -> type instanceof ParameterizedType one && one.getRawType() == supertype.raw)
        .map(ParameterizedType.class::cast).forEach(type -> {
          for (int i = 0; i < supertype.arguments.size(); i++)
            if (type.getActualTypeArguments()[i] instanceof TypeVariable<?> variable)
              bound.put(variable, supertype.argument(i));
        });
    var arguments = Stream.of(subtype.getTypeParameters()).map(variable -> resolve(variable, bound, where)).toList();
    return new ResolvedType(subtype, arguments);
  }

  private static Map<TypeVariable<?>, ResolvedType> bound(ResolvedType type) {
    var bound = new HashMap<TypeVariable<?>, ResolvedType>();
    var variables = type.raw.getTypeParameters();
    for (int i = 0; i < variables.length; i++) bound.put(variables[i], type.argument(i));
    return bound;
  }

  private static ResolvedType resolve(Type type, Map<TypeVariable<?>, ResolvedType> bound, String where) {
    return switch (type) {
      case Class<?> raw -> {
        if (raw.getTypeParameters().length > 0)
          throw refused(where, "a raw " + raw.getTypeName() + " (make a record that has one, with its type arguments)");
        yield new ResolvedType(raw, List.of());
      }
      case ParameterizedType applied -> new ResolvedType((Class<?>) applied.getRawType(),
          Stream.of(applied.getActualTypeArguments()).map(argument -> resolve(argument, bound, where)).toList());
      case WildcardType wildcard when wildcard.getLowerBounds().length == 0 -> resolve(wildcard.getUpperBounds()[0],
          bound, where);
      case TypeVariable<?> variable when bound.containsKey(variable) -> bound.get(variable);
      default -> throw refused(where, type.getTypeName());
    };
  }

  private static IllegalArgumentException refused(String where, String what) {
    return new IllegalArgumentException(where + ": " + what + " has no form in bytes; use records, enums, sealed "
        + "interfaces of them, values and collections of the JDK, or a codec of your own");
  }

  /** For a class that could be a record. */
  private static String hint(Class<?> type) {
    boolean isKotlin =
        Arrays.stream(type.getAnnotations()).anyMatch(one -> one.annotationType().getName().equals("kotlin.Metadata"));
    return isKotlin ? " (a class of Kotlin: write @JvmRecord in front of 'data class', or make it an object)" : "";
  }
}
