package io.fibry.durable.kind;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.codec.DerivedCodec;
import io.fibry.text.Lines;
import java.util.Objects;
import java.util.function.Consumer;

/** Wraps a user's codec, so that a null or any exception becomes a {@link CodecException}. */
public record CheckedCodec<T>(Codec<T> codec) implements Codec<T> {

  /** Wraps a codec, except for codecs of the library, which need no check. */
  public static <T> Codec<T> of(Codec<T> codec) {
    return Objects.requireNonNull(codec, "codec") instanceof DerivedCodec || codec instanceof CheckedCodec ? codec
        : new CheckedCodec<>(codec);
  }

  @Override
  public byte[] encode(T value) {
    try {
      return checkResult(codec.encode(value), "encode");
    } catch (CodecException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw exceptionOf("encode", failure);
    }
  }

  @Override
  public T decode(byte[] bytes) {
    return decode(bytes, field -> {});
  }

  @Override
  public T decode(byte[] bytes, Consumer<String> onUnknownField) {
    try {
      return checkResult(codec.decode(bytes, onUnknownField), "decode");
    } catch (CodecException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw exceptionOf("decode", failure);
    }
  }

  private <R> R checkResult(R result, String verb) {
    if (result == null) throw new CodecException(verb + " of " + codec.getClass().getName() + " returned null");
    return result;
  }

  private CodecException exceptionOf(String verb, RuntimeException failure) {
    return new CodecException(
        verb + " of " + codec.getClass().getName() + " threw " + Lines.thrown(failure), failure);
  }
}
