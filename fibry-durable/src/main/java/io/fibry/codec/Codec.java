package io.fibry.codec;

import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Writes values of one type as bytes, and reads them again. Thread-safe.
 *
 * {@snippet class="io.fibry.codec.JavadocSnippetsTest" region="codec"}
 *
 * @param <T> the values
 */
public interface Codec<T> {

  /**
   * Writes a value.
   *
   * @param value never null
   * @return its bytes
   * @throws CodecException if the value has no form in bytes, or one of more than 16 MiB
   */
  byte[] encode(T value);

  /**
   * Reads a value.
   *
   * @param bytes as they were written, now or by an earlier version
   * @return the value
   * @throws CodecException if these bytes are not a value of the type
   */
  T decode(byte[] bytes);

  /**
   * Reads a value, and reports fields that this codec does not know. Newer code has written them,
   * and they would be lost if the value was written again. A durable actor does not store a state
   * that had some. A codec that leaves this method as it is tells of none, so nodes with older code
   * may erase what newer code has stored.
   *
   * @param bytes as they were written, now or by an earlier or later version
   * @param unknown gets a text for each field that is skipped, such as "field 'note' of Cart"
   * @return the value
   * @throws CodecException if these bytes are not a value of the type
   */
  default T decode(byte[] bytes, Consumer<String> unknown) {
    return decode(bytes);
  }

  /**
   * Makes a CBOR codec for a record, an enum, or a sealed interface of these, with any components,
   * or for one value of the JDK, such as {@code Long}. A final class without fields whose one
   * object is its constant {@code INSTANCE}, such as an object of Kotlin, is like a record without
   * components.
   *
   * @param <T> the values
   * @param type of the values
   * @return a codec
   * @throws IllegalArgumentException if a part of the type has no form in bytes; the text names it
   */
  static <T> TypeCodec<T> of(Class<T> type) {
    return TypeCodec.of(type, forms -> forms);
  }

  /**
   * Makes a codec with names and old forms.
   *
   * @param <T> the values
   * @param type of the values
   * @param forms adds names and old forms
   * @return a codec
   * @throws IllegalArgumentException also if bytes could be read as two forms
   */
  static <T> TypeCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms) {
    return TypeCodec.of(type, forms);
  }

  /**
   * CBOR for the answers to a request: for {@code R}, where its class implements
   * {@code Request<.., R>}.
   *
   * @param request its class
   * @return a codec, always the same
   * @throws IllegalArgumentException if {@code R} is no class without parameters, or has no form in
   *     bytes; the text says why
   */
  static Codec<Object> ofAnswers(Class<?> request) {
    return AnswerCodecs.of(request);
  }
}
