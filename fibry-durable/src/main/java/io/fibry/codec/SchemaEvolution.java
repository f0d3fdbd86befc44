package io.fibry.codec;

import io.fibry.text.Lines;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * The names of types in encoded values, and the old forms that can still be decoded. Immutable:
 * each method returns a changed copy.
 *
 * {@snippet class="io.fibry.codec.JavadocSnippetsTest" region="forms"}
 *
 * @param <T> the type of the values
 */
public final class SchemaEvolution<T> {
  /** @param conversion makes a value of a current type from a value of the old form */
  record OldForm(String name, Class<?> type, Function<Object, Object> conversion) {}

  final Map<Class<?>, String> namesByType; // names in encoded values
  final List<OldForm> oldForms;
  final Map<Class<?>, Set<String>> ignoredFields; // names in encoded values, by record

  private SchemaEvolution(Map<Class<?>, String> namesByType, List<OldForm> oldForms,
      Map<Class<?>, Set<String>> ignoredFields) {
    this.namesByType = namesByType;
    this.oldForms = oldForms;
    this.ignoredFields = ignoredFields;
  }

  static <T> SchemaEvolution<T> empty() {
    return new SchemaEvolution<>(Map.of(), List.of(), Map.of());
  }

  /**
   * Adds an old form: a record that is read, but no longer written.
   *
   * @param <O> the type of the old form
   * @param name the name of the old form in encoded values. If a current type, or an old form that
   *     was added before, has this name, it must require a field that this form lacks. Otherwise
   *     bytes of this form could be read as that type or form
   * @param form a record with the old fields
   * @param now makes a value of a current type from a value of the old form
   * @return a changed copy
   */
  @SuppressWarnings("unchecked") // only values of the old form are passed
  public <O> SchemaEvolution<T> readOld(String name, Class<O> form, Function<? super O, ? extends T> now) {
    checkName(name, form);
    Objects.requireNonNull(now, "now");
    if (!form.isRecord()) throw new IllegalArgumentException(form.getName() + " must be a record");
    var forms = new ArrayList<>(oldForms);
    forms.add(new OldForm(name, form, value -> convert(form, now, (O) value)));
    return new SchemaEvolution<>(namesByType, List.copyOf(forms), ignoredFields);
  }

  private static <O> Object convert(Class<O> form, Function<? super O, ?> conversion, O value) {
    Object converted;
    try {
      converted = conversion.apply(value);
    } catch (RuntimeException thrown) {
      // the text begins with a colon, because the codec puts the path of the faulty value in front
      // of the text
      throw new CodecException(
          ": the function for " + form.getName() + " threw " + Lines.thrown(thrown), thrown);
    }
    if (converted == null) throw CodecException.ofFault("the function for " + form.getName() + " returned null");
    return converted;
  }

  /**
   * Sets the name that a type has in encoded values, in place of its simple name. The class can
   * then be renamed, or have the same simple name as another class.
   *
   * @param type a record or enum
   * @param name its name in encoded values
   * @return a changed copy
   */
  public SchemaEvolution<T> named(Class<?> type, String name) {
    checkName(name, type);
    var allNames = new HashMap<>(namesByType);
    allNames.put(type, name);
    return new SchemaEvolution<>(Map.copyOf(allNames), oldForms, ignoredFields);
  }

  /**
   * Names fields that earlier versions of a record had. When a value is read, these fields are
   * skipped. Any other unknown field may belong to newer code. It is skipped, too, but a durable
   * actor that has read such a field refuses turns that would store its state, because they would
   * erase the field.
   *
   * @param type a record
   * @param fields the names that these fields had in encoded values
   * @return a changed copy
   */
  public SchemaEvolution<T> ignoreRemoved(Class<?> type, String... fields) {
    var fieldsByType = new HashMap<>(ignoredFields);
    var names = new HashSet<>(ignoredFields.getOrDefault(type, Set.of()));
    for (var field : Objects.requireNonNull(fields, "fields")) names.add(checkName(field, type));
    fieldsByType.put(type, Set.copyOf(names));
    return new SchemaEvolution<>(namesByType, oldForms, Map.copyOf(fieldsByType));
  }

  /** Checks and returns the encoded name of a type, or of a field or constant of this type. */
  static String checkName(String name, Class<?> type) {
    Objects.requireNonNull(type, "type");
    if (Objects.requireNonNull(name, "name").isBlank() || !StandardCharsets.UTF_8.newEncoder().canEncode(name))
      throw new IllegalArgumentException(
          "the name '" + Lines.line(name) + "' of " + type.getName() + " or of a part of it"
              + " is blank, or has half of a surrogate pair");
    return name;
  }
}
