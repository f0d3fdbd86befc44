package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.fibry.support.Soak;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that random values survive encoding, and that random bytes are decoded or refused with a
 * {@link CodecException}.
 */
class CodecFuzzTest {
  private static final int ROUNDS = Soak.ON ? 50_000 : 2_000;
  private static final int MAX_BYTES = Soak.ON ? Integer.MAX_VALUE : 1_500; // so that a test can decode all prefixes

  private final long seed = Long.getLong("fibry.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private boolean hasPassed;

  sealed interface Value {}

  record Numbers(long a, int b, short c, byte d, char e, boolean f, Float g, double h) implements Value {}

  record Bigs(BigInteger integer, BigDecimal decimal, UUID id, String text) implements Value {}

  record Times(Instant instant, Duration duration, Period period, LocalDate date, LocalTime time,
      LocalDateTime dateTime, OffsetDateTime offset, OffsetTime offsetTime, ZonedDateTime zoned, Year year,
      YearMonth month, MonthDay day, ZoneId zone, ZoneOffset zoneOffset) implements Value {}

  record Holders(List<Value> list, Set<String> set, Map<Integer, Value> map, Optional<Value> one) implements Value {}

  record ArrayFields(byte[] bytes, int[] ints, String[][] texts) implements Value {
    @Override
    public boolean equals(Object other) {
      return other instanceof ArrayFields that && Arrays.equals(bytes, that.bytes) && Arrays.equals(ints, that.ints)
          && Arrays.deepEquals(texts, that.texts);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(ints);
    }
  }

  private static final Codec<Value> CODEC = Codec.of(Value.class);

  @AfterEach
  void printSeed() {
    if (!hasPassed) System.out.println("seed " + seed);
  }

  private BigInteger bigInteger(int maxBits) {
    var number = new BigInteger(random.nextInt(maxBits), random);
    return random.nextBoolean() ? number : number.negate();
  }

  private Value value(int depth) {
    return switch (random.nextInt(depth > 3 ? 4 : 5)) {
      case 0 -> new Numbers(random.nextLong() >> random.nextInt(64), random.nextInt() >> random.nextInt(32),
          (short) random.nextInt(), (byte) random.nextInt(), (char) random.nextInt(), random.nextBoolean(),
          Float.intBitsToFloat(random.nextInt()), Double.longBitsToDouble(random.nextLong()));
      case 1 -> new Bigs(bigInteger(200), new BigDecimal(bigInteger(100), random.nextInt(-99, 99)),
          new UUID(random.nextLong(), random.nextLong()), text());
      case 2 -> times();
      case 3 -> new ArrayFields(text().getBytes(), random.ints(random.nextInt(20)).toArray(),
          new String[][] {{text()}, {}, {text(), text()}});
      default -> holders(depth);
    };
  }

  private Value times() {
    var instant = Instant.ofEpochSecond(random.nextLong(-30_000_000_000_000L, 30_000_000_000_000L), random.nextInt());
    var local = LocalDateTime.ofEpochSecond(random.nextLong(-1L << 40, 1L << 40), random.nextInt(1_000_000_000),
        ZoneOffset.UTC);
    var zone = ZoneId.of(random.nextBoolean() ? "Europe/Paris" : "America/New_York");
    var offset = ZoneOffset.ofTotalSeconds(random.nextInt(-64_800, 64_800));
    return new Times(instant, Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000)),
        Period.of(random.nextInt(), random.nextInt(), random.nextInt()), local.toLocalDate(), local.toLocalTime(),
        local,
        local.atOffset(offset), local.toLocalTime().atOffset(offset), local.atZone(zone),
        Year.of(random.nextInt(-9_999, 99_999)), YearMonth.from(local), MonthDay.from(local), zone, offset);
  }

  private Value holders(int depth) {
    var list = new ArrayList<Value>();
    var set = new LinkedHashSet<String>();
    var map = new LinkedHashMap<Integer, Value>();
    for (int i = random.nextInt(4); i > 0; i--) {
      list.add(value(depth + 1));
      set.add(text());
      map.put(random.nextInt(), value(depth + 1));
    }
    return new Holders(list, set, map, random.nextBoolean() ? Optional.empty() : Optional.of(value(depth + 1)));
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
  void decodedValueEqualsEncodedValue() {
    for (int i = 0; i < ROUNDS; i++) {
      var value = value(0);
      byte[] bytes = CODEC.encode(value);
      var decoded = CODEC.decode(bytes);

      assertEquals(value, decoded);
      assertArrayEquals(bytes, CODEC.encode(decoded));
    }
    hasPassed = true;
  }

  @Test
  void truncatedBytesAreNotDecoded() {
    for (int i = 0; i < ROUNDS / 50; i++) {
      byte[] bytes = CODEC.encode(value(0));
      while (bytes.length > MAX_BYTES) bytes = CODEC.encode(value(0));
      for (int length = 0; length < bytes.length; length++)
        if (decode(Arrays.copyOf(bytes, length)) != null) fail("decoded " + length + " of " + bytes.length + " bytes");
    }
    hasPassed = true;
  }

  @Test
  void corruptOrRandomBytesAreDecodedOrRefused() {
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = CODEC.encode(value(0));
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--)
        bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean() ? random.nextInt() : random.nextInt(8) << 5);
      var decoded = decode(bytes);
      if (decoded != null) assertEquals(decoded, decode(CODEC.encode(decoded)));
    }
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      decode(bytes);
    }
    hasPassed = true;
  }

  /** Returns null if the bytes are refused. */
  private static Value decode(byte[] bytes) {
    try {
      return CODEC.decode(bytes);
    } catch (CodecException failure) {
      return null;
    }
  }
}
