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

/** Finds the {@link Shape} of each type. Each codec has its own finder. Used by one thread. */
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

  private final Map<Class<?>, String> namesByType; // names in encoded values
  private final Map<Class<?>, Set<String>> ignoredFields; // names in encoded values, by record
  private final Format format;
  // Includes shapes that are still being made, because a type may contain itself.
  private final Map<ResolvedType, Shape> shapes = new HashMap<>();
  private final Set<Class<?>> namedTypes = new HashSet<>(); // types whose names may be in encoded values
  private final List<Supplier<String>> definitions = new ArrayList<>(); // each gives a line of the schema

  ShapeFinder(SchemaEvolution<?> evolution, Format format) {
    this.namesByType = evolution.namesByType;
    this.ignoredFields = evolution.ignoredFields;
    this.format = format;
  }

  /** Returns the shape of a codec's values. A record or singleton is written with its type name. */
  Shape root(Class<?> type) {
    var resolved = resolve(type, Map.of(), type.getTypeName());
    var shape = of(resolved, type.getTypeName());
    if (!(shape instanceof RecordShape || shape instanceof SingletonShape)) return shape;
    var choice = new ChoiceShape(type.getSimpleName());
    choice.add(type, name(type), shape);
    definitions.add(choice::definition);
    return choice;
  }

  /** Returns the shape of an old form, which is read, but no longer written. */
  RecordShape oldForm(Class<?> type) {
    return (RecordShape) of(resolve(type, Map.of(), type.getTypeName()), type.getTypeName());
  }

  /** Returns the schema: all types, one per line, sorted. */
  String schema() {
    return String.join("\n", definitions.stream().map(Supplier::get).sorted().distinct().toList()) + "\n";
  }

  /** Returns the shapes of all records, enums and sealed types that were found so far. */
  Set<Shape> allShapes() {
    return Set.copyOf(shapes.values());
  }

  /** Returns whether a type is a record that values of the codec may contain. */
  boolean isRecord(Class<?> type) {
    return shapes.entrySet().stream()
        .anyMatch(entry -> entry.getKey().raw == type && entry.getValue() instanceof RecordShape);
  }

  /** Returns whether the name of a type may be in encoded values of the codec. */
  boolean isNamed(Class<?> type) {
    return namedTypes.contains(type);
  }

  private String name(Class<?> type) {
    namedTypes.add(type);
    return namesByType.getOrDefault(type, type.getSimpleName());
  }

  private Shape of(ResolvedType type, String path) {
    var existing = shapes.get(type);
    if (existing != null) return existing;
    if (type.depth() > Format.MAX_DEPTH) throw new IllegalArgumentException(path + ": " + type.raw.getTypeName()
        + " has type arguments more than " + Format.MAX_DEPTH + " deep; nest them less deeply");
    return make(type, path);
  }

  private Shape make(ResolvedType type, String path) {
    Class<?> raw = type.raw;
    var example = format.example(raw);
    if (example.isPresent()) return new OpaqueShape(raw, example.get());
    var scalar = ScalarShapes.of(raw);
    if (scalar != null) return scalar;
    if (raw.isArray())
      return new ContainerShapes.ArrayShape(raw.getComponentType(), item(raw.getComponentType(), path));
    if (raw == List.class || raw == Collection.class) return new ContainerShapes.ListShape(item(type, 0, path));
    if (raw == Set.class) return new ContainerShapes.SetShape(item(type, 0, path));
    if (raw == Map.class) return new ContainerShapes.MapShape(key(type, path), item(type, 1, path));
    if (raw == Optional.class) {
      if (type.argument(0).raw == Optional.class) throw unsupported(path, "an Optional of an Optional");
      return new ContainerShapes.OptionalShape(item(type, 0, path));
    }
    if (raw.isRecord()) return record(type);
    if (raw.isEnum()) return enumeration(type);
    if (raw.isSealed()) return choice(type, path);
    return singleton(type, path);
  }

  private Shape singleton(ResolvedType type, String path) {
    var shape =
        SingletonShape.of(type.raw).orElseThrow(() -> unsupported(path, type.raw.getTypeName() + hint(type.raw)));
    definitions.add(shape::definition);
    return shape;
  }

  private Shape key(ResolvedType map, String path) {
    var key = item(map, 0, path);
    if (format.hasAnyKey() || key.isKey()) return key;
    throw new IllegalArgumentException(path + ": a map from " + map.argument(0).raw.getTypeName() + " has no form in "
        + format.name() + ", where keys are texts; use a list of records that have key and value");
  }

  private Shape item(ResolvedType container, int index, String path) {
    return of(container.argument(index), path);
  }

  private Shape item(Class<?> type, String path) {
    return of(resolve(type, Map.of(), path), path);
  }

  private Shape enumeration(ResolvedType type) {
    var shape = new EnumShape(type.raw, constant -> SchemaEvolution.checkName(format.nameOf(constant), type.raw));
    shapes.put(type, shape);
    definitions.add(shape::definition);
    return shape;
  }

  private Shape record(ResolvedType type) {
    var shape = new RecordShape(type.raw, ignoredFields.getOrDefault(type.raw, Set.of()));
    shapes.put(type, shape);
    definitions.add(shape::definition);
    var bindings = bindings(type);
    for (var component : type.raw.getRecordComponents()) {
      String path = type.raw.getName() + "." + component.getName();
      shape.add(SchemaEvolution.checkName(format.nameOf(component), type.raw), component,
          of(resolve(component.getGenericType(), bindings, path), path));
    }
    return shape;
  }

  private Shape choice(ResolvedType type, String path) {
    var shape = new ChoiceShape(type.raw.getSimpleName());
    shapes.put(type, shape);
    definitions.add(shape::definition);
    addAll(type, shape, path);
    return shape;
  }

  private void addAll(ResolvedType type, ChoiceShape shape, String path) {
    for (var subtype : type.raw.getPermittedSubclasses()) {
      var resolved = resolveSubtype(subtype, type, path);
      if (subtype.isSealed() && format.example(subtype).isEmpty()) addAll(resolved, shape, path);
      else shape.add(subtype, name(subtype), of(resolved, path));
    }
  }

  /** Returns a subtype, with the type arguments that follow from the arguments of its supertype. */
  private static ResolvedType resolveSubtype(Class<?> subtype, ResolvedType supertype, String path) {
    var bindings = new HashMap<TypeVariable<?>, ResolvedType>();
    Stream.concat(Stream.of(subtype.getGenericInterfaces()), Stream.ofNullable(subtype.getGenericSuperclass()))
        .filter(type -> type instanceof ParameterizedType generic && generic.getRawType() == supertype.raw)
        .map(ParameterizedType.class::cast).forEach(type -> {
          for (int i = 0; i < supertype.arguments.size(); i++)
            if (type.getActualTypeArguments()[i] instanceof TypeVariable<?> variable)
              bindings.put(variable, supertype.argument(i));
        });
    var arguments = Stream.of(subtype.getTypeParameters()).map(variable -> resolve(variable, bindings, path)).toList();
    return new ResolvedType(subtype, arguments);
  }

  private static Map<TypeVariable<?>, ResolvedType> bindings(ResolvedType type) {
    var bindings = new HashMap<TypeVariable<?>, ResolvedType>();
    var variables = type.raw.getTypeParameters();
    for (int i = 0; i < variables.length; i++) bindings.put(variables[i], type.argument(i));
    return bindings;
  }

  private static ResolvedType resolve(Type type, Map<TypeVariable<?>, ResolvedType> bindings, String path) {
    return switch (type) {
      case Class<?> raw -> {
        if (raw.getTypeParameters().length > 0)
          throw unsupported(path,
              "a raw " + raw.getTypeName() + " (put it into a record, with its type arguments)");
        yield new ResolvedType(raw, List.of());
      }
      case ParameterizedType generic -> new ResolvedType((Class<?>) generic.getRawType(),
          Stream.of(generic.getActualTypeArguments()).map(argument -> resolve(argument, bindings, path)).toList());
      case WildcardType wildcard when wildcard.getLowerBounds().length == 0 -> resolve(wildcard.getUpperBounds()[0],
          bindings, path);
      case TypeVariable<?> variable when bindings.containsKey(variable) -> bindings.get(variable);
      default -> throw unsupported(path, type.getTypeName());
    };
  }

  private static IllegalArgumentException unsupported(String path, String typeText) {
    return new IllegalArgumentException(path + ": " + typeText + " cannot be encoded; use records, enums, sealed "
        + "interfaces of them, values and collections of the JDK, or a codec of your own");
  }

  /** Returns advice for a class of Kotlin; an empty text for any other class. */
  private static String hint(Class<?> type) {
    boolean isKotlin = Arrays.stream(type.getAnnotations())
        .anyMatch(annotation -> annotation.annotationType().getName().equals("kotlin.Metadata"));
    return isKotlin ? " (a class of Kotlin: write @JvmRecord in front of 'data class', or make it an object)" : "";
  }
}
