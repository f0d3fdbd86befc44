package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/**
 * Types that a mapper of your own writes, such as types of a library. Immutable: {@link #map}
 * returns a changed copy.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="mapped"}
 *
 * <p>The mapper's settings do not change the JSON of any other type. The rules that protect stored
 * data hold for these types, too. An unknown field is skipped, a missing field never silently
 * becomes zero or null, and bytes never choose the class of an object. If a type would break these
 * rules with its mapper, {@link #map} throws. Before a text is stored, the mapper reads it once to
 * check it.
 */
public final class MappedTypes {
  private final Map<Class<?>, MappedType> types;

  private MappedTypes(Map<Class<?>, MappedType> types) {
    this.types = types;
  }

  static MappedTypes none() {
    return new MappedTypes(Map.of());
  }

  /**
   * Lets a mapper write and read a type as a whole.
   *
   * @param <V> the type
   * @param type a class without type parameters; it may be a record, or a type of the JDK
   * @param example a value of the type with all fields filled. This method writes and reads the
   * example, also without each of its fields. Tests of codecs use it as a sample
   * @param mapper the mapper; a copy with stricter settings is used
   * @return a changed copy
   * @throws IllegalArgumentException if the mapper reads the example as another value, accepts a
   *     missing field, or would let bytes choose classes
   */
  public <V> MappedTypes map(Class<V> type, V example, JsonMapper mapper) {
    var allTypes = new HashMap<>(types);
    try {
      allTypes.put(type, MappedType.of(type, example, mapper));
    } catch (CodecException failure) {
      throw new IllegalArgumentException(
          "the mapper cannot write and read the example of " + type.getName() + Lines.message(failure), failure);
    }
    return new MappedTypes(Map.copyOf(allTypes));
  }

  Optional<MappedType> find(Class<?> type) {
    return Optional.ofNullable(types.get(type));
  }
}
