package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.codec.Format;
import io.fibry.codec.ItemWriter;
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

/** Items of JSON. What is the key of a map becomes its text. Used by one thread. */
final class JsonWriter implements ItemWriter {
  /** Refuses before it takes more memory than a value may. */
  private static final class LimitedOutputStream extends ByteArrayOutputStream {
    @Override
    public void write(int one) {
      check(1);
      super.write(one);
    }

    @Override
    public void write(byte[] some, int from, int length) {
      check(length);
      super.write(some, from, length);
    }

    private void check(int more) {
      if (count + more > Format.MAX_BYTES)
        throw CodecException.here("it takes more than " + Format.MAX_BYTES + " bytes");
    }
  }

  private final MapperTypes mapped;
  private final LimitedOutputStream out = new LimitedOutputStream();
  private final JsonGenerator json =
      JsonFormat.FACTORY.createGenerator(ObjectWriteContext.empty(), out, JsonEncoding.UTF8);
  private final boolean[] isMap = new boolean[Format.MAX_DEPTH + 1]; // by depth
  private int depth;
  private boolean atKey;

  JsonWriter(MapperTypes mapped) {
    this.mapped = mapped;
  }

  @Override
  public void integer(long value) {
    if (atKey) key(Long.toString(value));
    else json.writeNumber(value);
    onItemEnd();
  }

  private void key(String text) {
    json.writeName(text);
  }

  /** Behind a key comes its value, and behind that the next key. */
  private void onItemEnd() {
    atKey = isMap[depth] && !atKey;
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
        .here("a number of " + digits.length() + " characters; JSON has at most " + JsonFormat.MAX_DIGITS);
    if (atKey) key(digits);
    else json.writeNumber(digits);
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
    if (atKey) key(Boolean.toString(value));
    else json.writeBoolean(value);
    onItemEnd();
  }

  @Override
  public void text(String value) {
    if (atKey) key(value);
    else json.writeString(value);
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
    json.writeNull();
    onItemEnd();
  }

  @Override
  public void whole(Class<?> type, Object value) {
    var of = mapped.find(type).orElseThrow();
    String text = of.write(value);
    of.read(text); // a text that could not be read is not stored
    try (var parser = JsonFormat.FACTORY.createParser(ObjectReadContext.empty(), text)) {
      parser.nextToken();
      json.copyCurrentStructureExact(parser);
    } catch (JacksonException invalid) {
      throw CodecException.here(of + " does not write JSON: " + invalid.getOriginalMessage());
    }
    onItemEnd();
  }

  @Override
  public void beginArray(int elements) {
    begin(false);
    json.writeStartArray();
  }

  @Override
  public void beginMap(int entries) {
    begin(true);
    json.writeStartObject();
  }

  private void begin(boolean map) {
    if (depth == Format.MAX_DEPTH) throw CodecException.here("it is nested more than " + Format.MAX_DEPTH + " deep");
    isMap[++depth] = map;
    atKey = map;
  }

  @Override
  public void end() {
    if (isMap[depth--]) json.writeEndObject();
    else json.writeEndArray();
    atKey = false; // a map or an array is no key
    onItemEnd();
  }

  @Override
  public byte[] written() {
    json.close();
    return out.toByteArray();
  }
}
