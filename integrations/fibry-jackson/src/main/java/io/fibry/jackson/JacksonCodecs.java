package io.fibry.jackson;

import io.fibry.codec.Codec;
import io.fibry.codec.DerivedCodec;
import io.fibry.codec.SchemaEvolution;
import java.util.function.UnaryOperator;

/**
 * Codecs that write JSON (RFC 8259) with Jackson, for stores and topics that people or programs in
 * other languages read. The rules of {@link Codec#of(Class)} apply; only the bytes differ.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="codec"}
 *
 * <p>The outermost value, and any value whose declared type is a sealed interface, is stored with
 * the name of its type: {@code {"Deposited":{"cents":500}}}. Only types that the codec knows are
 * made from such names. Times are texts as in ISO 8601, bytes are Base64, and all numbers are
 * written exactly. A program with floating-point numbers only, such as JavaScript, rounds integers
 * beyond 2<sup>53</sup>. A number has 1,000 digits at most. The key of a map is a text, a number, a
 * time or another single item.
 *
 * <p>{@code @JsonProperty} names a component or a constant. Other annotations of Jackson on records
 * and enums are refused, because the codec does not apply them.
 */
public final class JacksonCodecs {
  private JacksonCodecs() {}

  /**
   * Makes a JSON codec for a record, an enum, or a sealed interface of these, or for a single value
   * of the JDK, such as {@code Long}.
   *
   * @param <T> the type of the values
   * @param type the class of the values
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that has no form in JSON;
   *     the text names it
   */
  public static <T> DerivedCodec<T> of(Class<T> type) {
    return of(type, forms -> forms);
  }

  /**
   * Makes a codec with other names for types, and with old forms of types.
   *
   * @param <T> the type of the values
   * @param type the class of the values
   * @param forms adds names and old forms
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that has no form in JSON, or
   * if the same bytes could be read as two forms of a type
   */
  public static <T> DerivedCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms) {
    return of(type, forms, mappedTypes -> mappedTypes);
  }

  /**
   * Makes a codec with types that a mapper of your own writes.
   *
   * @param <T> the type of the values
   * @param type the class of the values
   * @param forms adds names and old forms
   * @param mapperTypes adds the types that a mapper writes; see {@link MappedTypes#map}
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that has no form in JSON, or
   * if the same bytes could be read as two forms of a type
   */
  public static <T> DerivedCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms,
      UnaryOperator<MappedTypes> mapperTypes) {
    return DerivedCodec.of(type, forms, new JsonFormat(mapperTypes.apply(MappedTypes.none())));
  }
}
