package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.codec.Format;
import io.fibry.codec.FormatWriter;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Base64;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonEncoding;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

/** Writes items as JSON. The key of a map is written as text. Used by one thread. */
final class JsonWriter implements FormatWriter {
  /** Throws if a value takes more than {@link Format#MAX_BYTES}, before it allocates the memory. */
  private static final class LimitedOutputStream extends ByteArrayOutputStream {
    @Override
    public void write(int value) {
      check(1);
      super.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      check(length);
      super.write(bytes, offset, length);
    }

    private void check(int length) {
      if (count + length > Format.MAX_BYTES)
        throw CodecException.ofFault("it takes more than " + Format.MAX_BYTES + " bytes");
    }
  }

  private final MappedTypes mappedTypes;
  private final LimitedOutputStream out = new LimitedOutputStream();
  private final JsonGenerator generator =
      JsonFormat.FACTORY.createGenerator(ObjectWriteContext.empty(), out, JsonEncoding.UTF8);
  // by depth: true if a map is open there, false for an array or the outermost value
  private final boolean[] isMap = new boolean[Format.MAX_DEPTH + 1];
  private int depth;
  private boolean isAtKey; // the next item is the key of a map

  JsonWriter(MappedTypes mappedTypes) {
    this.mappedTypes = mappedTypes;
  }

  @Override
  public void integer(long value) {
    if (isAtKey) writeKey(Long.toString(value));
    else generator.writeNumber(value);
    onItemEnd();
  }

  private void writeKey(String text) {
    generator.writeName(text);
  }

  /** Called after each item. In a map, keys and values alternate. */
  private void onItemEnd() {
    isAtKey = isMap[depth] && !isAtKey;
  }

  @Override
  public void bigInteger(BigInteger value) {
    number(value.toString());
  }

  @Override
  public void decimal(BigDecimal value) {
    number(value.toString());
  }

  private void number(String digits) {
    if (digits.length() > JsonFormat.MAX_DIGITS) throw CodecException
        .ofFault("a number of " + digits.length() + " characters; a number may have at most " + JsonFormat.MAX_DIGITS
            + " in this format");
    if (isAtKey) writeKey(digits);
    else generator.writeNumber(digits);
    onItemEnd();
  }

  @Override
  public void float32(float value) {
    if (Float.isFinite(value)) number(Float.toString(value));
    else text(Float.toString(value));
  }

  @Override
  public void float64(double value) {
    if (Double.isFinite(value)) number(Double.toString(value));
    else text(Double.toString(value));
  }

  @Override
  public void bool(boolean value) {
    if (isAtKey) writeKey(Boolean.toString(value));
    else generator.writeBoolean(value);
    onItemEnd();
  }

  @Override
  public void text(String value) {
    if (isAtKey) writeKey(value);
    else generator.writeString(value);
    onItemEnd();
  }

  @Override
  public void bytes(byte[] value) {
    text(Base64.getEncoder().encodeToString(value));
  }

  @Override
  public void uuid(UUID value) {
    text(value.toString());
  }

  @Override
  public void nothing() {
    generator.writeNull();
    onItemEnd();
  }

  @Override
  public void whole(Class<?> type, Object value) {
    var mappedType = mappedTypes.find(type).orElseThrow();
    String text = mappedType.write(value);
    mappedType.read(text); // throws if the mapper cannot read its own text, so that such a text is not stored
    try (var parser = JsonFormat.FACTORY.createParser(ObjectReadContext.empty(), text)) {
      parser.nextToken();
      generator.copyCurrentStructureExact(parser);
    } catch (JacksonException invalid) {
      throw CodecException.ofFault(mappedType + " does not write JSON: " + invalid.getOriginalMessage());
    }
    onItemEnd();
  }

  @Override
  public void beginArray(int elements) {
    begin(false);
    generator.writeStartArray();
  }

  @Override
  public void beginMap(int entries) {
    begin(true);
    generator.writeStartObject();
  }

  private void begin(boolean startsMap) {
    if (depth == Format.MAX_DEPTH) throw CodecException.ofFault("it is nested more than " + Format.MAX_DEPTH + " deep");
    isMap[++depth] = startsMap;
    isAtKey = startsMap;
  }

  @Override
  public void end() {
    if (isMap[depth--]) generator.writeEndObject();
    else generator.writeEndArray();
    isAtKey = false; // an array or a map is always a value, never a key
    onItemEnd();
  }

  @Override
  public byte[] written() {
    generator.close();
    return out.toByteArray();
  }
}
