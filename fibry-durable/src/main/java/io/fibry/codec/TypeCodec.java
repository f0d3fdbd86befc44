package io.fibry.codec;

import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * CBOR (RFC 8949), or another {@link Format}, for the values of a type. A record is a map from the
 * names of its components; one of several types has its simple name with it. Thread-safe;
 * immutable.
 *
 * <p>Bytes stay readable when a type changes. An unknown field is skipped, which
 * {@link #decode(byte[], Consumer)} reports. A missing field is empty if it is a collection, an
 * array or an {@code Optional}. Any other difference fails with a {@link CodecException}: no value
 * is silently zero. Only the types named here are ever made from bytes. {@link SchemaEvolution}
 * covers the changes that these rules do not.
 *
 * @param <T> the values
 */
public final class TypeCodec<T> implements Codec<T> {
  private static final Format CBOR = new CborFormat();
  private static final Consumer<String> IGNORED = field -> {};

  private final Class<T> type;
  private final Class<?> boxed; // of its values
  private final Format format;
  private final Shape root;
  private final Set<Shape> shapes; // of the types of today
  private final String schema;

  private TypeCodec(Class<T> type, SchemaEvolution<T> forms, Format format) {
    this.type = type;
    this.boxed = MethodType.methodType(type).wrap().returnType();
    this.format = format;
    var shapes = new ShapeFinder(forms, format);
    this.root = shapes.root(type);
    this.shapes = shapes.allShapes();
    for (var old : forms.old) choice().addOld(old.name(), old.type(), shapes.old(old.type()), old.today());
    for (var one : forms.named.keySet())
      if (!shapes.isNamed(one))
        throw new IllegalArgumentException(one.getName() + " has a name, but is no choice in " + type.getName());
    for (var one : forms.ignoredFields.keySet())
      if (!shapes.isRecord(one)) throw new IllegalArgumentException(
          one.getName() + " has fields that are gone, but is no record in " + type.getName());
    this.schema = shapes.schema();
  }

  static <T> TypeCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms) {
    return of(type, forms, CBOR);
  }

  /**
   * For libraries: a codec by the same rules, in another format.
   *
   * @param <T> the values
   * @param type of the values
   * @param forms adds names and old forms
   * @param format of the bytes
   * @return a codec
   * @throws IllegalArgumentException if a part of the type has no form in bytes, or bytes could be
   *     read as two forms
   */
  public static <T> TypeCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms, Format format) {
    Objects.requireNonNull(type, "type");
    var known = Objects.requireNonNull(forms, "forms").apply(SchemaEvolution.none());
    return new TypeCodec<>(type, Objects.requireNonNull(known, "what forms answers"),
        Objects.requireNonNull(format, "format"));
  }

  private ChoiceShape choice() {
    if (root instanceof ChoiceShape choice) return choice;
    throw new IllegalArgumentException(
        type.getName() + " is written without a name; only records and sealed interfaces have one");
  }

  /** {@return the format of the bytes} */
  public Format format() {
    return format;
  }

  /** {@return all types and their fields, a line each: codecs with one schema read bytes alike} */
  public String schema() {
    return schema;
  }

  /**
   * Bytes of values that have each type and constant at least once; the same for the same schema.
   * For tests that keep them, to see whether later versions read them.
   *
   * @return by the name of the type and a number
   */
  public Map<String, byte[]> samples() {
    return Sampler.samples(root, shapes, format);
  }

  @Override
  public byte[] encode(T value) {
    var out = format.newWriter();
    try {
      check(Objects.requireNonNull(value, "value"));
      root.write(value, out);
    } catch (CodecException failure) {
      throw failure.in(type.getSimpleName());
    }
    return out.written();
  }

  /** Code without type arguments gives anything. */
  private void check(Object value) {
    if (!boxed.isInstance(value))
      throw CodecException.here(value.getClass().getName() + " is no " + type.getSimpleName());
  }

  @Override
  public T decode(byte[] bytes) {
    return decode(bytes, IGNORED);
  }

  @Override
  @SuppressWarnings("unchecked") // the shape is that of the type
  public T decode(byte[] bytes, Consumer<String> unknown) {
    Objects.requireNonNull(unknown, "unknown");
    try {
      if (Objects.requireNonNull(bytes, "bytes").length > Format.MAX_BYTES)
        throw CodecException.here(bytes.length + " bytes; at most " + Format.MAX_BYTES + " are read");
      var in = format.newReader(bytes);
      var value = root.read(in, unknown);
      in.checkEnd();
      return (T) value;
    } catch (CodecException failure) {
      throw failure.in(type.getSimpleName());
    }
  }

  @Override
  public String toString() {
    return "codec of " + type.getName();
  }
}
