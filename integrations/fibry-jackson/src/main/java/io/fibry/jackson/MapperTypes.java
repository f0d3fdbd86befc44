package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/**
 * Types that a mapper of your own writes, such as types of a library. Immutable: each step returns
 * a changed copy.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="mapped"}
 *
 * <p>All other types keep their form, whatever the mapper's settings are. The rules that protect
 * stored data hold for these types, too. An unknown field is skipped, a missing field is never
 * silently zero or null, and no class is made because bytes name it. A mapper and a type that do
 * otherwise are refused when the codec is made. Before a text is stored, the mapper reads it once
 * more.
 */
public final class MapperTypes {
  private final Map<Class<?>, MappedType> types;

  private MapperTypes(Map<Class<?>, MappedType> types) {
    this.types = types;
  }

  static MapperTypes none() {
    return new MapperTypes(Map.of());
  }

  /**
   * Lets a mapper write and read a type as a whole.
   *
   * @param <V> its values
   * @param type without type parameters; also a record, or a type of the JDK
   * @param example a value of it, all of whose fields are filled: it is written and read now, with
   *     each field left out, and is a sample for tests
   * @param mapper a copy of it is used, with stricter settings
   * @return a changed copy
   * @throws IllegalArgumentException if the example does not come back, a field of it may be
   *     missing, or bytes could choose classes
   */
  public <V> MapperTypes map(Class<V> type, V example, JsonMapper mapper) {
    var all = new HashMap<>(types);
    try {
      all.put(type, MappedType.of(type, example, mapper));
    } catch (CodecException failure) {
      throw new IllegalArgumentException(
          "the mapper cannot write and read the example of " + type.getName() + Lines.message(failure), failure);
    }
    return new MapperTypes(Map.copyOf(all));
  }

  Optional<MappedType> find(Class<?> type) {
    return Optional.ofNullable(types.get(type));
  }
}
