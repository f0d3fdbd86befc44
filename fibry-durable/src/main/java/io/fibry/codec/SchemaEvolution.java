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
 * How types are named in bytes, and which old forms are read. Immutable: each step returns a
 * changed copy.
 *
 * {@snippet class="io.fibry.codec.JavadocSnippetsTest" region="forms"}
 *
 * @param <T> the values
 */
public final class SchemaEvolution<T> {
  record OldForm(String name, Class<?> type, Function<Object, Object> today) {}

  final Map<Class<?>, String> named;
  final List<OldForm> old;
  final Map<Class<?>, Set<String>> ignoredFields;

  private SchemaEvolution(Map<Class<?>, String> named, List<OldForm> old, Map<Class<?>, Set<String>> ignoredFields) {
    this.named = named;
    this.old = old;
    this.ignoredFields = ignoredFields;
  }

  static <T> SchemaEvolution<T> none() {
    return new SchemaEvolution<>(Map.of(), List.of(), Map.of());
  }

  /**
   * Adds an old form: a record that is read, but no longer written.
   *
   * @param <O> the old form
   * @param name in the bytes; it may be the name of a type of today only if that type needs a field
   * which the old form lacks, because otherwise bytes could be read as either
   * @param form a record with the old fields
   * @param now makes a value of today from the old form
   * @return a changed copy
   */
  @SuppressWarnings("unchecked") // a value of the old form
  public <O> SchemaEvolution<T> readOld(String name, Class<O> form, Function<? super O, ? extends T> now) {
    checkName(name, form);
    Objects.requireNonNull(now, "now");
    if (!form.isRecord()) throw new IllegalArgumentException(form.getName() + " must be a record");
    var all = new ArrayList<>(old);
    all.add(new OldForm(name, form, value -> today(form, now, (O) value)));
    return new SchemaEvolution<>(named, List.copyOf(all), ignoredFields);
  }

  private static <O> Object today(Class<O> form, Function<? super O, ?> now, O value) {
    Object today;
    try {
      today = now.apply(value);
    } catch (RuntimeException thrown) {
      throw new CodecException(
          ": the function for " + form.getName() + " threw " + Lines.thrown(thrown), thrown);
    }
    if (today == null) throw CodecException.here("the function for " + form.getName() + " answered null");
    return today;
  }

  /**
   * Gives a type a name in bytes, instead of its simple name: so the class may be renamed, and two
   * with one simple name can be told apart.
   *
   * @param type a record or enum
   * @param name in bytes
   * @return a changed copy
   */
  public SchemaEvolution<T> named(Class<?> type, String name) {
    checkName(name, type);
    var all = new HashMap<>(named);
    all.put(type, name);
    return new SchemaEvolution<>(Map.copyOf(all), old, ignoredFields);
  }

  /**
   * Names fields that a record had before. A field that is not named here may belong to newer code.
   * It is skipped, but a durable actor that has read it does not store its state again.
   *
   * @param type a record
   * @param fields the names that they had in bytes
   * @return a changed copy
   */
  public SchemaEvolution<T> ignoreRemoved(Class<?> type, String... fields) {
    var all = new HashMap<>(ignoredFields);
    var names = new HashSet<>(ignoredFields.getOrDefault(type, Set.of()));
    for (var field : Objects.requireNonNull(fields, "fields")) names.add(checkName(field, type));
    all.put(type, Set.copyOf(names));
    return new SchemaEvolution<>(named, old, Map.copyOf(all));
  }

  /** Checks a name of a type, or of a field in it, as it stands in the bytes. */
  static String checkName(String name, Class<?> type) {
    Objects.requireNonNull(type, "type");
    if (Objects.requireNonNull(name, "name").isBlank() || !StandardCharsets.UTF_8.newEncoder().canEncode(name))
      throw new IllegalArgumentException(
          "the name '" + Lines.line(name) + "' of or in " + type.getName()
              + " is blank, or has half of a surrogate pair");
    return name;
  }
}
