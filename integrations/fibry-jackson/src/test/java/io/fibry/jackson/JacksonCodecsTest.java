package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JacksonCodecsTest {
  enum Color {
    RED, GREEN
  }

  sealed interface Event {}

  enum Mark implements Event {
    BEGUN
  }

  record Paid(long cents, String currency) implements Event {}

  record Sent(Optional<Color> color, Set<Integer> parts, List<Event> before) implements Event {}

  private static <T> String toJson(Class<T> type, T value) {
    byte[] bytes = JacksonCodecs.of(type).encode(value);
    assertEquals(value, JacksonCodecs.of(type).decode(bytes));
    return new String(bytes, UTF_8);
  }

  private static <T> T fromJson(Class<T> type, String json) {
    return JacksonCodecs.of(type).decode(json.getBytes(UTF_8));
  }

  private static String decodingFailure(Class<?> type, String json) {
    return assertThrows(CodecException.class, () -> fromJson(type, json)).getMessage();
  }

  private static String creationFailure(Class<?> type) {
    return assertThrows(IllegalArgumentException.class, () -> JacksonCodecs.of(type)).getMessage();
  }

  // ---- the JSON of values

  @Test
  void sealedSubtypeIsWrittenUnderItsTypeName() {
    assertEquals("{\"Paid\":{\"cents\":500,\"currency\":\"EUR\"}}", toJson(Event.class, new Paid(500, "EUR")));
    assertEquals("{\"Mark\":\"BEGUN\"}", toJson(Event.class, Mark.BEGUN));
    assertEquals("{\"Sent\":{\"color\":null,\"parts\":[7],\"before\":[{\"Mark\":\"BEGUN\"}]}}",
        toJson(Event.class, new Sent(Optional.empty(), Set.of(7), List.of(Mark.BEGUN))));
    assertEquals("{\"Paid\":{\"cents\":1,\"currency\":\"\\u0001\\\"\u00fc\"}}",
        toJson(Paid.class, new Paid(1, "\u0001\"\u00fc")));
  }

  record Values(double ratio, double limit, Float share, char letter, BigInteger many, BigDecimal price, UUID id,
      Instant at, Duration took, boolean done) {}

  @Test
  void valuesOfJdkTypesAreWrittenAsReadableJson() {
    var values = new Values(0.5, Double.NEGATIVE_INFINITY, 3f, 'x', new BigInteger("18446744073709551616"),
        new BigDecimal("1.50"), new UUID(1, 2), Instant.parse("2026-01-02T03:04:05.678Z"), Duration.ofMinutes(90),
        true);

    assertEquals("""
        {"Values":{"ratio":0.5,"limit":"-Infinity","share":3.0,"letter":120,"many":18446744073709551616,"price":1.50,\
        "id":"00000000-0000-0001-0000-000000000002","at":"2026-01-02T03:04:05.678Z","took":"PT1H30M","done":true}}""",
        toJson(Values.class, values));
    assertEquals("\"Kw==\"", new String(JacksonCodecs.of(byte[].class).encode(new byte[] {43}), UTF_8));
  }

  record Keys(Map<String, Integer> texts, Map<Long, Integer> numbers, Map<Boolean, Integer> truths,
      Map<Double, Integer> ratios, Map<BigDecimal, Integer> prices, Map<Color, Integer> colors,
      Map<Instant, Integer> times) {}

  @Test
  void mapKeysOfEachTypeAreWrittenAsTexts() {
    var truths = new LinkedHashMap<Boolean, Integer>(Map.of(false, 1));
    truths.put(true, 2);
    var keys = new Keys(Map.of("", 1), Map.of(-7L, 1), truths, Map.of(Double.NaN, 1), Map.of(new BigDecimal("1E+3"), 1),
        Map.of(Color.RED, 1), Map.of(Instant.EPOCH, 1));

    assertEquals("""
        {"Keys":{"texts":{"":1},"numbers":{"-7":1},"truths":{"false":1,"true":2},"ratios":{"NaN":1},\
        "prices":{"1E+3":1},"colors":{"RED":1},"times":{"1970-01-01T00:00:00Z":1}}}""", toJson(Keys.class, keys));
  }

  record ByRecord(Map<Paid, Integer> counts) {}

  record ByChoice(Map<Optional<String>, Integer> counts) {}

  @Test
  void mapKeyTypeWithoutTextFormIsRefused() {
    assertTrue(creationFailure(ByRecord.class).contains("ByRecord.counts: a map from "
        + "io.fibry.jackson.JacksonCodecsTest$Paid has no form in json, where keys are texts; use a list of records"),
        creationFailure(ByRecord.class));
    creationFailure(ByChoice.class);
  }

  record Renamed(@JsonProperty("item_count") int itemCount, @JsonProperty Color color, Size size) {}

  enum Size {
    @JsonProperty("small")
    SMALL, LARGE
  }

  /** A record whose annotation is at the parameter of the constructor, as in Kotlin. */
  record AtParameter(int itemCount) {
    AtParameter(@JsonProperty("item_count") int itemCount) {
      this.itemCount = itemCount;
    }
  }

  record AtAccessor(int itemCount) {
    @Override
    @JsonProperty("item_count")
    public int itemCount() {
      return itemCount;
    }
  }

  @Test
  void jsonPropertyRenamesComponentsAndConstants() {
    assertEquals("{\"AtParameter\":{\"item_count\":2}}", toJson(AtParameter.class, new AtParameter(2)));
    assertEquals("{\"AtAccessor\":{\"item_count\":2}}", toJson(AtAccessor.class, new AtAccessor(2)));
    assertEquals("{\"Renamed\":{\"item_count\":2,\"color\":\"RED\",\"size\":\"small\"}}",
        toJson(Renamed.class, new Renamed(2, Color.RED, Size.SMALL)));
    assertEquals("Color = GREEN | RED\nRenamed = 'Renamed' Renamed\n"
        + "Renamed(item_count: int, color: Color, size: Size)\nSize = LARGE | small\n",
        JacksonCodecs.of(Renamed.class).schema());
  }

  record Ignoring(@JsonIgnore int secret) {}

  record Formatted(@JsonFormat(pattern = "yyyy") Instant at) {}

  record Valued(String text) {
    @JsonValue
    String value() {
      return text;
    }
  }

  record Blank(@JsonProperty(" ") int a) {}

  record Twice(@JsonProperty("b") int a, int b) {}

  @Test
  void typesWithIneffectiveAnnotationsOrBadNamesAreRefused() {
    assertTrue(creationFailure(Ignoring.class).contains("@JsonIgnore"), creationFailure(Ignoring.class));
    assertTrue(creationFailure(Ignoring.class).contains("Ignoring.secret has no effect here"),
        creationFailure(Ignoring.class));
    assertTrue(creationFailure(Formatted.class).contains("@JsonFormat"), creationFailure(Formatted.class));
    assertTrue(creationFailure(Valued.class).contains("@JsonValue"), creationFailure(Valued.class));
    assertTrue(creationFailure(Blank.class).contains("the name ' ' of "), creationFailure(Blank.class));
    assertTrue(creationFailure(Twice.class).contains("have the same name in bytes, 'b'"), creationFailure(Twice.class));
  }

  // ---- JSON of other programs

  @Test
  void decoderIgnoresWhitespaceAndFieldOrder() {
    assertEquals(new Paid(5, "EUR"),
        fromJson(Paid.class, " {\n \"Paid\" : { \"currency\":\"EUR\",\t\"cents\" : 5 } } \n"));
    assertEquals(5.0, fromJson(Double.class, "5"));
    assertEquals(5e300, fromJson(Double.class, "5e300"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
    "Event | {`Paid`:{`cents`:1}} | Event.Paid: field currency of Paid is missing",
    "Event | {`Paid`:{`cents`:null,`currency`:``}} | Event.Paid.cents: null instead of an integer, at character 17",
    "Event | {`Paid`:{`cents`:1.0,`currency`:``}} | Event.Paid.cents: a fraction instead of an integer",
    "Event | {`Paid`:{`cents`:`1`,`currency`:``}} | Event.Paid.cents: text instead of an integer",
    "Event | {`Paid`:{`cents`:9223372036854775808,`currency`:``}} | Event.Paid.cents: the number is too large",
    "Event | {`Paid`:{`cents`:1,`cents`:1,`currency`:``}} | Event.Paid: field cents occurs twice",
    "Event | {`Paid`:{`cents`:1,`currency`:`\\ud800`}} | Paid.currency: the text has half of a surrogate pair",
    "Event | {`Gone`:{}} | Event: no type named 'Gone' is known; the types of Event are [Mark, Paid, Sent]",
    "Event | {} | a map of one entry", "Event | {`Mark`:`BEGUN`,`Mark`:`BEGUN`} | a map of one entry",
    "Event | [] | Event: an array instead of an object", "Event | {`Mark`:`ENDED`} | 'ENDED' is no Mark",
    "Event | {`Sent`:{`parts`:null}} | Event.Sent.parts: null instead of an array",
    "Event | {`Sent`:{`parts`:[1,1]}} | Event.Sent.parts: a set has an element twice",
    "Event | {`Mark`:`BEGUN`} x | Event: Unrecognized token",
    "Event | {`Mark`:`BEGUN`}1 | the text continues after the value",
    "Event | {`Mark`:`BEGUN` | Event.Mark: Unexpected end-of-input", "Event | ~~ | the text ends too early",
    "Double | 1e999 | Double: the number is too large", "Double | 1e-999 | Double: the number is too small",
    "Double | `NAN` | Double: text instead of a number", "Keys | {`Keys`:{`numbers`:{`1.5`:1}}} | not an integer",
    "Keys | {`Keys`:{`ratios`:{`0x1p3`:1}}} | Keys.Keys.ratios[a key]: the key is not a number",
    "Keys | {`Keys`:{`numbers`:{`1`:1,`1`:2}}} | Keys.Keys.numbers: a map has a key twice",
    "Keys | {`Keys`:{`truths`:{`yes`:1}}} | the key 'yes' instead of true or false"})
  void invalidJsonIsReportedWithItsPath(String type, String json, String expectedText) {
    Class<?> targetType = switch (type) {
      case "Event" -> Event.class;
      case "Keys" -> Keys.class;
      default -> Double.class;
    };

    String text = decodingFailure(targetType, json.replace('`', '"'));

    assertTrue(text.contains(expectedText), text);
  }

  @Test
  void tooLargeOrTooDeepJsonIsRefused() {
    assertTrue(decodingFailure(Event.class, "[".repeat(100_000)).contains("an array instead"));
    assertTrue(decodingFailure(Paid.class, "{\"Paid\":{\"new\":" + "[".repeat(1_000) + "]".repeat(1_000) + "}}")
        .contains("nesting depth (65)"));
    assertTrue(decodingFailure(BigInteger.class, "1".repeat(2_000)).contains("Number value length (2000)"));
    assertTrue(
        decodingFailure(Keys.class, "{\"Keys\":{\"prices\":{\"" + "1".repeat(2_000) + "\":1}}}")
            .contains("the key is"));
    assertTrue(decodingFailure(BigDecimal.class, "1e200000").contains("a decimal with a scale of -200000"));
    assertTrue(decodingFailure(String.class, "\"" + "x".repeat(17 << 20) + "\"").contains("at most 16777216 are read"));

    var codec = JacksonCodecs.of(Paid.class);
    assertTrue(assertThrows(CodecException.class, () -> codec.encode(new Paid(1, "x".repeat(17 << 20)))).getMessage()
        .contains("Paid.Paid.currency: it takes more than 16777216 bytes"));
    assertTrue(assertThrows(CodecException.class,
        () -> JacksonCodecs.of(BigInteger.class).encode(BigInteger.TEN.pow(1_000))).getMessage()
        .contains("a number of 1001 characters; a number may have at most 1000 in this format"));
    Event nested = Mark.BEGUN;
    for (int i = 0; i < 40; i++) nested = new Sent(Optional.empty(), Set.of(), List.of(nested));
    var tooDeep = nested;
    assertTrue(assertThrows(CodecException.class, () -> JacksonCodecs.of(Event.class).encode(tooDeep)).getMessage()
        .endsWith("it is nested more than 64 deep"));
  }

  // ---- rules that hold for CBOR, too

  @Test
  void encodingOfNullFieldIsRefused() {
    var failure = assertThrows(CodecException.class, () -> JacksonCodecs.of(Paid.class).encode(new Paid(1, null)));

    assertEquals("Paid.Paid.currency: it is null; an Optional can be empty", failure.getMessage());
  }

  private static class OldVersion {
    record Paid(long cents) {}
  }

  @Test
  void oldAndCurrentFormsInSameListAreDecoded() {
    var codec = JacksonCodecs.of(Event.class,
        forms -> forms.readOld("Paid", OldVersion.Paid.class, oldPaid -> new Paid(oldPaid.cents(), "EUR"))
            .named(Mark.class, "mark"));

    assertEquals(new Sent(Optional.empty(), Set.of(), List.of(new Paid(2, "EUR"), new Paid(3, "USD"), Mark.BEGUN)),
        codec.decode("""
            {"Sent": {"new": [{}, "}", 1.5], "before": [{"Paid": {"note": {"a": ["]"]}, "cents": 2}},
             {"Paid": {"currency": "USD", "cents": 3}}, {"mark": "BEGUN"}]}}""".getBytes(UTF_8)));
  }

  @Test
  void schemaAndSamplesEqualCborSchemaAndSamples() {
    assertEquals(Codec.of(Event.class).schema(), JacksonCodecs.of(Event.class).schema());
    assertEquals(Codec.of(Event.class).samples().keySet(), JacksonCodecs.of(Event.class).samples().keySet());
    JacksonCodecs.of(Event.class).samples()
        .forEach((name, json) -> assertEquals(Codec.of(Event.class).decode(Codec.of(Event.class).samples().get(name)),
            JacksonCodecs.of(Event.class).decode(json)));
  }
}
