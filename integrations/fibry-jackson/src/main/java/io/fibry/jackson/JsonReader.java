package io.fibry.jackson;

import io.fibry.codec.CodecException;
import io.fibry.codec.FormatReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

/**
 * Reads items from JSON. If an item is the key of a map, it is read from the key's text. Used by
 * one thread.
 */
final class JsonReader implements FormatReader {
  private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9][0-9]*)");
  private static final Pattern NUMBER = Pattern.compile(INTEGER + "(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
  private static final Pattern NOT_FINITE = Pattern.compile("NaN|-?Infinity");
  private static final Pattern FLOATING = Pattern.compile(NUMBER + "|" + NOT_FINITE);
  private static final Set<String> BOOLEANS = Set.of("true", "false");
  private static final Pattern ZERO = Pattern.compile("[^1-9eE]*([eE].*)?"); // all digits are 0

  private final char[] chars;
  private final int start; // index in chars at which this reader begins
  private final int limit;
  private final MappedTypes mappedTypes;
  private final JsonParser parser;
  private JsonToken pending; // the token that was read, but not taken yet; null if none

  private JsonReader(char[] chars, int start, int limit, MappedTypes mappedTypes) {
    this.chars = chars;
    this.start = start;
    this.limit = limit;
    this.mappedTypes = mappedTypes;
    this.parser = JsonFormat.FACTORY.createParser(ObjectReadContext.empty(), chars, start, limit - start);
  }

  static JsonReader of(byte[] bytes, MappedTypes mappedTypes) {
    var text = decode(bytes);
    return new JsonReader(text.array(), 0, text.limit(), mappedTypes); // the decoder made the array: its offset is 0
  }

  private static CharBuffer decode(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException malformed) {
      throw CodecException.ofFault("the bytes are not UTF-8");
    }
  }

  @Override
  public CodecException failure(String problem) {
    return CodecException.ofFault(problem + ", at character " + tokenStart());
  }

  /** Returns the index in {@code chars} at which the parser's current token begins. */
  private int tokenStart() {
    return start + (int) parser.currentTokenLocation().getCharOffset();
  }

  private CodecException malformed(JacksonException failure) {
    return CodecException.ofFault(failure.getOriginalMessage() + ", at character "
        + (start + parser.currentLocation().getCharOffset()));
  }

  // ---- tokens

  private JsonToken token() {
    if (pending == null) pending = nextToken();
    if (pending == null) throw failure("the text ends too early");
    return pending;
  }

  private JsonToken nextToken() {
    try {
      return parser.nextToken();
    } catch (JacksonException failure) {
      throw malformed(failure);
    }
  }

  private void takeToken(JsonToken expected, String name) {
    if (token() != expected) throw mismatch(name);
    pending = null;
  }

  private CodecException mismatch(String expected) {
    return failure(switch (token()) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case END_OBJECT, END_ARRAY -> "an end";
      case PROPERTY_NAME -> "the key '" + tokenText() + "'";
      case VALUE_STRING -> "text";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
      case VALUE_TRUE, VALUE_FALSE -> "true or false";
      default -> "null";
    } + " instead of " + expected);
  }

  /** Returns the text of the current token, and takes the token. */
  private String takeText() {
    String text = tokenText();
    pending = null;
    return text;
  }

  private String tokenText() {
    try {
      return parser.getString();
    } catch (JacksonException failure) {
      throw malformed(failure);
    }
  }

  // ---- items

  @Override
  public long integer() {
    return number(digits(INTEGER), Long::parseLong);
  }

  @Override
  public BigInteger bigInteger() {
    return number(digits(INTEGER), BigInteger::new);
  }

  @Override
  public BigDecimal decimal() {
    return number(digits(NUMBER), BigDecimal::new);
  }

  /** Takes a number, or a key that is a number in the given form, and returns its digits. */
  private String digits(Pattern form) {
    boolean integer = form == INTEGER;
    switch (token()) {
      case VALUE_NUMBER_INT -> {
        return takeText();
      }
      case VALUE_NUMBER_FLOAT -> {
        if (integer) throw failure("a fraction instead of an integer");
        return takeText();
      }
      case PROPERTY_NAME -> {
        String key = takeText();
        if (key.length() > JsonFormat.MAX_DIGITS || !form.matcher(key).matches())
          throw failure("the key is not " + (integer ? "an integer" : "a number"));
        return key;
      }
      default -> throw mismatch(integer ? "an integer" : "a number");
    }
  }

  private <N> N number(String digits, Function<String, N> parser) {
    try {
      return parser.apply(digits);
    } catch (NumberFormatException tooLarge) {
      throw failure("the number is too large");
    }
  }

  @Override
  public float float32() {
    String digits = floating();
    float value = Float.parseFloat(digits);
    checkMagnitude(digits, Float.isFinite(value), value == 0);
    return value;
  }

  @Override
  public double float64() {
    String digits = floating();
    double value = Double.parseDouble(digits);
    checkMagnitude(digits, Double.isFinite(value), value == 0);
    return value;
  }

  /**
   * Takes a floating-point number, and returns its digits. A number that is not finite is a text,
   * because JSON has no other form for it.
   */
  private String floating() {
    if (token() == JsonToken.VALUE_STRING && NOT_FINITE.matcher(tokenText()).matches()) return takeText();
    return digits(FLOATING);
  }

  private void checkMagnitude(String digits, boolean isFinite, boolean isZero) {
    if (!isFinite && !NOT_FINITE.matcher(digits).matches()) throw failure("the number is too large");
    if (isZero && !ZERO.matcher(digits).matches()) throw failure("the number is too small");
  }

  @Override
  public boolean bool() {
    String text = switch (token()) {
      case VALUE_TRUE, VALUE_FALSE, PROPERTY_NAME -> tokenText();
      default -> "";
    };
    if (!BOOLEANS.contains(text)) throw mismatch("true or false");
    pending = null;
    return Boolean.parseBoolean(text);
  }

  @Override
  public String text() {
    if (token() != JsonToken.VALUE_STRING && pending != JsonToken.PROPERTY_NAME) throw mismatch("text");
    String text = takeText();
    for (int i = 0, c; i < text.length(); i += Character.charCount(c)) {
      c = text.codePointAt(i);
      if (Character.MIN_SURROGATE <= c && c <= Character.MAX_SURROGATE)
        throw failure("the text has half of a surrogate pair");
    }
    return text;
  }

  @Override
  public byte[] bytes() {
    try {
      return Base64.getDecoder().decode(text());
    } catch (IllegalArgumentException malformed) {
      throw failure("the text is not Base64");
    }
  }

  @Override
  public UUID uuid() {
    String text = text();
    try {
      var id = UUID.fromString(text);
      if (id.toString().equalsIgnoreCase(text)) return id;
    } catch (IllegalArgumentException malformed) {
      // thrown below
    }
    throw failure("the text is no UUID");
  }

  @Override
  public boolean isNothing() {
    if (token() != JsonToken.VALUE_NULL) return false;
    pending = null;
    return true;
  }

  @Override
  public Object whole(Class<?> type) {
    return whole(type, unknown -> {});
  }

  @Override
  public Object whole(Class<?> type, Consumer<String> reportUnknown) {
    var text = new StringWriter();
    token();
    try (var copy = JsonFormat.FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      copy.copyCurrentStructureExact(parser);
    } catch (JacksonException failure) {
      throw malformed(failure);
    }
    pending = null;
    return mappedTypes.find(type).orElseThrow().read(text.toString(), reportUnknown);
  }

  @Override
  public void beginArray() {
    takeToken(JsonToken.START_ARRAY, "an array");
  }

  @Override
  public void beginMap() {
    takeToken(JsonToken.START_OBJECT, "an object");
  }

  @Override
  public boolean next() {
    return !token().isStructEnd();
  }

  @Override
  public void end() {
    token();
    pending = null;
  }

  @Override
  public void skip() {
    token();
    try {
      parser.skipChildren();
      parser.finishToken();
    } catch (JacksonException failure) {
      throw malformed(failure);
    }
    pending = null;
  }

  @Override
  public Set<String> keys() {
    token();
    var lookahead = new JsonReader(chars, tokenStart(), limit, mappedTypes);
    var keys = new HashSet<String>();
    lookahead.beginMap();
    while (lookahead.next()) {
      keys.add(lookahead.text());
      lookahead.skip();
    }
    return keys;
  }

  @Override
  public void checkEnd() {
    if (nextToken() != null) throw failure("the text continues after the value");
    parser.close();
  }
}
