package io.fibry.codec;

import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Writes and reads the values of a type in CBOR (RFC 8949), or in another {@link Format}. A record
 * is written as a map from the names of its components to their values. A value that may
 * have several types, and a record that is the outermost value, are written with the simple name of
 * their type. Thread-safe and immutable.
 *
 * <p>Bytes stay readable when a type changes. An unknown field is skipped;
 * {@link #decode(byte[], Consumer)} reports it. A missing field is empty if it is a collection, an
 * array or an {@code Optional}. Any other difference fails with a {@link CodecException}: a missing
 * number, for example, never becomes zero. Reading bytes creates only objects of the types that the
 * codec knows. {@link SchemaEvolution} covers the changes that these rules do not.
 *
 * @param <T> the type of the values
 */
public final class DerivedCodec<T> implements Codec<T> {
  private static final Format CBOR = new CborFormat();
  private static final Consumer<String> IGNORE = field -> {};

  private final Class<T> type;
  private final Class<?> valueClass; // the class of the values: type, or its wrapper if it is primitive
  private final Format format;
  private final Shape root;
  private final Set<Shape> shapes; // of current records, enums and sealed types, without old forms
  private final String schema;

  private DerivedCodec(Class<T> type, SchemaEvolution<T> evolution, Format format) {
    this.type = type;
    this.valueClass = MethodType.methodType(type).wrap().returnType();
    this.format = format;
    var finder = new ShapeFinder(evolution, format);
    this.root = finder.root(type);
    this.shapes = finder.allShapes();
    for (var old : evolution.oldForms)
      rootChoice().addOld(old.name(), old.type(), finder.oldForm(old.type()), old.conversion());
    for (var namedType : evolution.namesByType.keySet())
      if (!finder.isNamed(namedType))
        throw new IllegalArgumentException("no value of " + type.getName() + " is written with the name of "
            + namedType.getName() + "; leave out named(..) for it");
    for (var record : evolution.ignoredFields.keySet())
      if (!finder.isRecord(record)) throw new IllegalArgumentException(
          record.getName() + " has removed fields, but is no record in " + type.getName());
    this.schema = finder.schema();
  }

  static <T> DerivedCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms) {
    return of(type, forms, CBOR);
  }

  /**
   * Makes a codec that follows the same rules in another format; called by libraries.
   *
   * @param <T> the type of the values
   * @param type the type of the values
   * @param forms adds names and old forms
   * @param format the format of the bytes
   * @return a codec
   * @throws IllegalArgumentException if the type is or contains a type that cannot be written, or
   * if the same bytes could be read as two forms of a type
   */
  public static <T> DerivedCodec<T> of(Class<T> type, UnaryOperator<SchemaEvolution<T>> forms, Format format) {
    Objects.requireNonNull(type, "type");
    var evolution = Objects.requireNonNull(forms, "forms").apply(SchemaEvolution.empty());
    return new DerivedCodec<>(type, Objects.requireNonNull(evolution, "the result of forms"),
        Objects.requireNonNull(format, "format"));
  }

  private ChoiceShape rootChoice() {
    if (root instanceof ChoiceShape choice) return choice;
    throw new IllegalArgumentException(
        type.getName() + " is written without a type name; only records and sealed interfaces have old forms");
  }

  /** {@return the format of the bytes} */
  public Format format() {
    return format;
  }

  /**
   * {@return all types and their fields, one type per line} Codecs that have the same schema read
   * the same bytes in the same way.
   */
  public String schema() {
    return schema;
  }

  /**
   * Returns sample values as bytes. Each type and constant is in at least one sample. Codecs that
   * have the same schema return the same samples. Tests store the samples, and check that later
   * versions can read them.
   *
   * @return the samples, by the name of their type and a number
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
      throw failure.enclosedBy(type.getSimpleName());
    }
    return out.written();
  }

  /** Checks the class of a value, because code with raw types may pass any object. */
  private void check(Object value) {
    if (!valueClass.isInstance(value))
      throw CodecException.ofFault(value.getClass().getName() + " is no " + type.getSimpleName());
  }

  @Override
  public T decode(byte[] bytes) {
    return decode(bytes, IGNORE);
  }

  @Override
  @SuppressWarnings("unchecked") // the shape reads values of the type
  public T decode(byte[] bytes, Consumer<String> unknown) {
    Objects.requireNonNull(unknown, "unknown");
    try {
      if (Objects.requireNonNull(bytes, "bytes").length > Format.MAX_BYTES)
        throw CodecException.ofFault(bytes.length + " bytes; at most " + Format.MAX_BYTES + " are read");
      var in = format.newReader(bytes);
      var value = root.read(in, unknown);
      in.checkEnd();
      return (T) value;
    } catch (CodecException failure) {
      throw failure.enclosedBy(type.getSimpleName());
    }
  }

  @Override
  public String toString() {
    return "codec of " + type.getName();
  }
}
