package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.support.Soak;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that random values survive encoding, and that random bytes are decoded or refused with a
 * {@link CodecException}.
 */
class JsonFuzzTest {
  private static final int ROUNDS = Soak.ON ? 2_000 : 500;
  private static final String[] PARTS = {"{", "}", "[", "]", ",", ":", "\"", "null", "true", "1e9", "-", "\\u", "0"};

  private final long seed = Long.getLong("fibry.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private boolean hasPassed;

  sealed interface Value {}

  record Numbers(long a, int b, short c, byte d, char e, boolean f, Float g, double h) implements Value {}

  record Bigs(BigInteger integer, BigDecimal decimal, UUID id, String text, byte[] bytes) implements Value {
    @Override
    public boolean equals(Object other) {
      return other instanceof Bigs that && integer.equals(that.integer) && decimal.equals(that.decimal)
          && id.equals(that.id) && text.equals(that.text) && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return text.hashCode();
    }
  }

  record Times(Instant instant, Duration duration, LocalDateTime local, OffsetDateTime offset, ZonedDateTime zoned,
      YearMonth month) implements Value {}

  record Holders(List<Value> list, Set<String> set, Optional<Value> one) implements Value {}

  record Maps(Map<String, Value> texts, Map<Double, Long> doubles, Map<Float, Boolean> floats,
      Map<BigDecimal, String> decimals, Map<UUID, Character> ids, Map<Instant, Optional<String>> times)
      implements Value {}

  private static final Codec<Value> CODEC = JacksonCodecs.of(Value.class);

  @AfterEach
  void printSeed() {
    if (!hasPassed) System.out.println("seed " + seed);
  }

  private Value value(int depth) {
    return switch (random.nextInt(depth > 3 ? 3 : 5)) {
      case 0 -> new Numbers(random.nextLong() >> random.nextInt(64), random.nextInt() >> random.nextInt(32),
          (short) random.nextInt(), (byte) random.nextInt(), (char) random.nextInt(), random.nextBoolean(),
          floatValue(), doubleValue());
      case 1 -> new Bigs(new BigInteger(random.nextInt(200), random).negate(), decimal(), id(), text(),
          text().getBytes(UTF_8));
      case 2 -> times();
      case 3 -> new Holders(List.of(value(depth + 1), value(depth + 1)),
          new LinkedHashSet<>(List.of(text() + "a", text() + "b")),
          random.nextBoolean() ? Optional.empty() : Optional.of(value(depth + 1)));
      default -> new Maps(Map.of(text(), value(depth + 1)), mapOf(this::doubleValue, random::nextLong),
          mapOf(this::floatValue, random::nextBoolean), mapOf(this::decimal, this::text),
          mapOf(this::id, () -> (char) random.nextInt()), Map.of(instant(), Optional.of(text())));
    };
  }

  private <K, V> Map<K, V> mapOf(Supplier<K> key, Supplier<V> value) {
    var map = new LinkedHashMap<K, V>();
    for (int i = random.nextInt(3); i > 0; i--) map.put(key.get(), value.get());
    return map;
  }

  private float floatValue() {
    return Float.intBitsToFloat(random.nextInt());
  }

  private double doubleValue() {
    return Double.longBitsToDouble(random.nextLong());
  }

  private BigDecimal decimal() {
    return new BigDecimal(new BigInteger(100, random), random.nextInt(-9_999, 9_999));
  }

  private UUID id() {
    return new UUID(random.nextLong(), random.nextLong());
  }

  private Instant instant() {
    return Instant.ofEpochSecond(random.nextLong(-30_000_000_000_000L, 30_000_000_000_000L), random.nextInt());
  }

  private Value times() {
    var local = LocalDateTime.ofEpochSecond(random.nextLong(-1L << 40, 1L << 40), random.nextInt(1_000_000_000),
        ZoneOffset.UTC);
    return new Times(instant(), Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000)), local,
        local.atOffset(ZoneOffset.ofTotalSeconds(random.nextInt(-64_800, 64_800))),
        local.atZone(ZoneId.of("America/New_York")), YearMonth.from(local));
  }

  private String text() {
    var text = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      int c = random.nextInt(4) == 0 ? random.nextInt(Character.MAX_CODE_POINT) : random.nextInt(128);
      if (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE) text.appendCodePoint(c);
    }
    return text.toString();
  }

  @Test
  void randomValueIsDecodedFromItsJson() {
    for (int i = 0; i < ROUNDS; i++) {
      var value = value(0);
      byte[] bytes = CODEC.encode(value);
      var decodedValue = CODEC.decode(bytes);

      assertEquals(value, decodedValue);
      assertArrayEquals(bytes, CODEC.encode(decodedValue));
    }
    hasPassed = true;
  }

  /** Another program may write the same value with white space and other escapes. */
  @Test
  void valueIsDecodedFromReformattedJson() {
    var pretty = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT)
        .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES).build();
    for (int i = 0; i < ROUNDS / 5; i++) {
      var value = value(0);
      byte[] rewrittenJson = pretty.writeValueAsBytes(pretty.readTree(CODEC.encode(value)));

      assertEquals(value, CODEC.decode(rewrittenJson));
    }
    hasPassed = true;
  }

  @Test
  void truncatedJsonIsNotDecoded() {
    for (int i = 0; i < ROUNDS / 50; i++) {
      byte[] bytes = CODEC.encode(value(4));
      for (int length = 0; length < bytes.length; length++)
        assertNull(decodeOrNull(Arrays.copyOf(bytes, length)), length + " of " + bytes.length + " bytes");
    }
    hasPassed = true;
  }

  @Test
  void randomBytesAreDecodedOrRefused() {
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = CODEC.encode(value(0));
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--) bytes[random.nextInt(bytes.length)] = randomByte();
      check(bytes);
      check(changedText(new String(bytes, UTF_8)).getBytes(UTF_8));
    }
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      check(bytes);
      var text = new StringBuilder();
      for (int parts = random.nextInt(20); parts > 0; parts--) text.append(PARTS[random.nextInt(PARTS.length)]);
      check(text.toString().getBytes(UTF_8));
    }
    hasPassed = true;
  }

  private byte randomByte() {
    return (byte) (random.nextBoolean() ? random.nextInt() : PARTS[random.nextInt(PARTS.length)].charAt(0));
  }

  /** Repeats, removes or replaces a part of the text. */
  private String changedText(String text) {
    int start = random.nextInt(text.length());
    int end = start + random.nextInt(text.length() - start);
    String replacement = switch (random.nextInt(3)) {
      case 0 -> "";
      case 1 -> text.substring(start, end).repeat(2);
      default -> PARTS[random.nextInt(PARTS.length)];
    };
    return text.substring(0, start) + replacement + text.substring(end);
  }

  private static void check(byte[] bytes) {
    var decodedValue = decodeOrNull(bytes);
    if (decodedValue != null) assertEquals(decodedValue, decodeOrNull(CODEC.encode(decodedValue)));
  }

  /** Returns null if the codec refuses the bytes. */
  private static Value decodeOrNull(byte[] bytes) {
    try {
      return CODEC.decode(bytes);
    } catch (CodecException failure) {
      return null;
    }
  }
}
