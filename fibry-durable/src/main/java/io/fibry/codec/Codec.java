package io.fibry.codec;

import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Writes values of one type as bytes, and reads them again. Thread-safe.
 *
 * {@snippet class="io.fibry.codec.JavadocSnippetsTest" region="codec"}
 *
 * @param <T> the type of the values
 */
public interface Codec<T> {

  /**
   * Writes a value.
   *
   * @param value never null
   * @return its bytes
   * @throws CodecException if the value cannot be written, for example because a component is null,
   *     or if it needs more than 16 MiB
   */
  byte[] encode(T value);

  /**
   * Reads a value.
   *
   * @param bytes the bytes of a value, written by this program or by an earlier version of it
   * @return the value
   * @throws CodecException if these bytes are not a value of the type
   */
  T decode(byte[] bytes);

  /**
   * Reads a value, and reports fields that this codec does not know. Newer code has written these
   * fields, and they would be lost if the value was written again. A durable actor whose state has
   * such fields therefore refuses turns that would store its state. The default implementation
   * reports no fields. With it, nodes with older code may erase fields that newer code has stored.
   *
   * @param bytes the bytes of a value, written by this program or by another version of it
   * @param unknown gets a text for each field that is skipped, such as "field 'note' of Cart"
   * @return the value
   * @throws CodecException if these bytes are not a value of the type
   */
  default T decode(byte[] bytes, Consumer<String> unknown) {
    return decode(bytes);
  }

  /**
   * Makes a CBOR codec for a record, an enum, a sealed interface of these, or a simple type of the
   * JDK, such as {@code Long}. Components of records may have any of these types. They may also be
   * arrays, lists, sets, maps and {@code Optional}s of them. A final class without fields whose
   * only object is its constant {@code INSTANCE}, such as an object of Kotlin, is treated like a
   * record without components.
   *
   * @param <T> the type of the values
   * @param type the type of the values
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that cannot be written; the
   *     text names it
   */
  static <T> DerivedCodec<T> of(Class<T> type) {
    return DerivedCodec.of(type, forms -> forms);
  }

  /**
   * Makes a CBOR codec that writes other names for types, or reads old forms.
   *
   * @param <T> the type of the values
   * @param type the type of the values
   * @param forms adds names and old forms
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that cannot be written, or
   * if the same bytes could be read as two forms of a type
   */
  static <T> DerivedCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms) {
    return DerivedCodec.of(type, forms);
  }

  /**
   * Returns a CBOR codec for the answers to a request. If the class of the request implements
   * {@code Request<.., R>}, this is a codec for {@code R}.
   *
   * @param request the class of the request
   * @return the codec; each call for the same class returns the same object
   * @throws IllegalArgumentException if the class does not implement {@code Request} itself, or if
   *     {@code R} has type parameters or is not a type for {@link #of(Class)}; the text says why
   */
  static Codec<Object> ofAnswers(Class<?> request) {
    return AnswerCodecs.of(request);
  }
}
