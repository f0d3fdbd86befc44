package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.codec.TypeCodec;
import io.fibry.text.Lines;
import java.util.Objects;
import java.util.function.Consumer;

/** A codec of a user, held to what it promises: no null, and {@link CodecException}s only. */
record CheckedCodec<T>(Codec<T> codec) implements Codec<T> {

  /** Those of the library are what they promise. */
  static <T> Codec<T> of(Codec<T> codec) {
    return Objects.requireNonNull(codec, "codec") instanceof TypeCodec || codec instanceof CheckedCodec ? codec
        : new CheckedCodec<>(codec);
  }

  @Override
  public byte[] encode(T value) {
    try {
      return checkResult(codec.encode(value), "encode");
    } catch (CodecException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw failed("encode", failure);
    }
  }

  @Override
  public T decode(byte[] bytes) {
    return decode(bytes, unknown -> {});
  }

  @Override
  public T decode(byte[] bytes, Consumer<String> unknown) {
    try {
      return checkResult(codec.decode(bytes, unknown), "decode");
    } catch (CodecException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw failed("decode", failure);
    }
  }

  private <R> R checkResult(R result, String verb) {
    if (result == null) throw new CodecException(verb + " of " + codec.getClass().getName() + " answered null");
    return result;
  }

  private CodecException failed(String verb, RuntimeException failure) {
    return new CodecException(
        verb + " of " + codec.getClass().getName() + " threw " + Lines.thrown(failure), failure);
  }
}
