package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.node.ObjectNode;

/** A type that a user's mapper writes. Immutable. */
record MappedType(Class<?> type, Object example, JsonMapper mapper) {
  private static final JsonMapper TREE_MAPPER = JsonMapper.shared();

  /** Denies all class names in stored values, so that a value never chooses its class. */
  private static final class NoClassValidator extends PolymorphicTypeValidator {
    private static final long serialVersionUID = 1;

    @Override
    public Validity validateBaseType(DatabindContext context, JavaType base) {
      return Validity.DENIED;
    }

    @Override
    public Validity validateSubClassName(DatabindContext context, JavaType base, String name) {
      return Validity.DENIED;
    }

    @Override
    public Validity validateSubType(DatabindContext context, JavaType base, JavaType subtype) {
      return Validity.DENIED;
    }
  }

  static <V> MappedType of(Class<V> type, V example, JsonMapper mapper) {
    Objects.requireNonNull(example, "example");
    if (type.getTypeParameters().length > 0) throw new IllegalArgumentException(
        type.getName() + " has type parameters; wrap it in a type without type parameters");
    if (mapper.deserializationConfig().getDefaultTyper(mapper.constructType(type)) != null)
      throw new IllegalArgumentException("the mapper of " + type.getName()
          + " has default typing, so bytes would choose classes; give a mapper without activateDefaultTyping(..)");
    var mapped = new MappedType(type, example, makeStrict(mapper));
    mapped.checkRoundTrip();
    mapped.checkMissingFieldsAreRefused();
    return mapped;
  }

  private static JsonMapper makeStrict(JsonMapper mapper) {
    return mapper.rebuild().polymorphicTypeValidator(new NoClassValidator())
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.ACCEPT_FLOAT_AS_INT,
            DeserializationFeature.ACCEPT_EMPTY_STRING_AS_NULL_OBJECT,
            DeserializationFeature.ACCEPT_EMPTY_ARRAY_AS_NULL_OBJECT)
        .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
            DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES, DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
            DeserializationFeature.FAIL_ON_INVALID_SUBTYPE, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .disable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL, EnumFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
        .build();
  }

  private void checkRoundTrip() {
    String text = write(example);
    var readValue = read(text);
    boolean isSame = hasEquals() ? readValue.equals(example) : write(readValue).equals(text);
    if (!isSame) throw new IllegalArgumentException(
        "the mapper reads the example of " + type.getName() + ", " + Lines.text(example)
            + ", as another value: " + Lines.text(readValue) + ", from " + Lines.line(text));
  }

  private boolean hasEquals() {
    try {
      return example.getClass().getMethod("equals", Object.class).getDeclaringClass() != Object.class;
    } catch (NoSuchMethodException impossible) {
      throw new LinkageError(type.getName(), impossible);
    }
  }

  /**
   * Checks that the mapper refuses the example if a field is missing, so that no field of an old
   * value silently becomes zero. The mapper may accept a missing field if it then reads the field
   * as empty, or derives it from other fields.
   */
  private void checkMissingFieldsAreRefused() {
    var tree = TREE_MAPPER.readTree(write(example));
    for (var field : fields(tree, JsonPointer.empty())) {
      var treeWithoutField = tree.deepCopy();
      ((ObjectNode) treeWithoutField.at(field.head())).remove(field.last().getMatchingProperty());
      Object readValue;
      try {
        readValue = read(treeWithoutField.toString());
      } catch (CodecException expected) {
        continue;
      }
      var fieldValue = TREE_MAPPER.readTree(write(readValue)).at(field);
      boolean isEmpty = fieldValue.isMissingNode() || fieldValue.isContainer() && fieldValue.isEmpty();
      boolean isDerived = fieldValue.equals(tree.at(field));
      if (!isEmpty && !isDerived) throw new IllegalArgumentException("the mapper reads a " + type.getName()
          + " without '" + Lines.line(field.toString().substring(1)) + "', which would be " + Lines.text(fieldValue)
          + "; let a constructor take all its fields, or write it as a record");
    }
  }

  private static List<JsonPointer> fields(JsonNode node, JsonPointer parent) {
    var pointers = new ArrayList<JsonPointer>();
    node.propertyStream().forEach(field -> {
      var pointer = parent.appendProperty(field.getKey());
      pointers.add(pointer);
      pointers.addAll(fields(field.getValue(), pointer));
    });
    for (int i = 0; node.isArray() && i < node.size(); i++) pointers.addAll(fields(node.get(i), parent.appendIndex(i)));
    return pointers;
  }

  String write(Object value) {
    try {
      return mapper.writerFor(type).writeValueAsString(value);
    } catch (RuntimeException failure) {
      throw codecException(failure, "cannot write it");
    }
  }

  /** Collects fields that the type does not know, except fields that its annotations ignore. */
  private static final class SkippedFields extends DeserializationProblemHandler {
    // by name of the unknown field: the types that do not know it. The key is not the position,
    // because a parser of buffered tokens has no positions
    private final Map<String, Set<String>> typesByField = new LinkedHashMap<>();

    @Override
    public boolean handleUnknownProperty(DeserializationContext context, JsonParser parser,
        ValueDeserializer<?> deserializer, Object beanOrClass, String name) {
      Class<?> type = beanOrClass instanceof Class<?> beanType ? beanType : beanOrClass.getClass();
      typesByField.computeIfAbsent(name, key -> new LinkedHashSet<>()).add(type.getSimpleName());
      return false; // not handled here: the mapper's own handlers see the field, or it is skipped
    }
  }

  Object read(String text) {
    return read(mapper.readerFor(type), text);
  }

  /** Reads a value, and reports each field that would be lost if the value was written again. */
  Object read(String text, Consumer<String> reportUnknown) {
    var skipped = new SkippedFields();
    Object value = read(mapper.readerFor(type).withHandler(skipped), text);
    if (skipped.typesByField.isEmpty()) return value;
    var original = TREE_MAPPER.readTree(text);
    var rewritten = TREE_MAPPER.readTree(write(value)); // has the derived fields, which are written but not read
    skipped.typesByField.forEach((name, types) -> {
      if (isLost(name, original, rewritten))
        reportUnknown.accept("field '" + name + "' of " + String.join(" or ", types));
    });
    return value;
  }

  /**
   * Returns whether the objects at some path have the field more often in the original. The field
   * that contains such an object may be read under one name and written under another, for example
   * with {@code @JsonAlias}. The object then has another path. Therefore objects whose paths are in
   * only one tree are compared by the sum of their counts.
   */
  private static boolean isLost(String name, JsonNode original, JsonNode rewritten) {
    var originalCounts = new HashMap<JsonPointer, Integer>();
    var rewrittenCounts = new HashMap<JsonPointer, Integer>();
    countFields(name, original, JsonPointer.empty(), originalCounts);
    countFields(name, rewritten, JsonPointer.empty(), rewrittenCounts);
    int moved = 0;
    for (var entry : originalCounts.entrySet()) {
      var rewrittenCount = rewrittenCounts.remove(entry.getKey());
      if (rewrittenCount == null) moved += entry.getValue();
      else if (entry.getValue() > rewrittenCount) return true;
    }
    return moved > rewrittenCounts.values().stream().mapToInt(count -> count).sum();
  }

  /**
   * Counts how often the objects at each path have the field. All elements of an array have one
   * path, because the elements of a set have no order.
   */
  private static void countFields(String name, JsonNode node, JsonPointer path, Map<JsonPointer, Integer> counts) {
    if (node.isObject()) counts.merge(path, node.has(name) ? 1 : 0, Integer::sum);
    node.propertyStream()
        .forEach(field -> countFields(name, field.getValue(), path.appendProperty(field.getKey()), counts));
    for (int i = 0; node.isArray() && i < node.size(); i++)
      countFields(name, node.get(i), path.appendIndex(0), counts);
  }

  private Object read(ObjectReader reader, String text) {
    try {
      Object value = reader.readValue(text);
      if (value == null) throw CodecException.ofFault(this + " reads null");
      return value;
    } catch (CodecException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw codecException(failure, "cannot read it");
    }
  }

  private CodecException codecException(RuntimeException failure, String problem) {
    String reason = failure instanceof JacksonException jackson ? jackson.getOriginalMessage() : Lines.thrown(failure);
    return new CodecException(Lines.escaped(": " + this + " " + problem + ": " + reason), failure);
  }

  @Override
  public String toString() {
    return "the mapper of " + type.getSimpleName();
  }
}
