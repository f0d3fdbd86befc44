package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
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
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The shapes of the JDK's values. */
final class Scalars {
  private static final int MOST_SCALE = 100_000; // of a decimal: arithmetic with more takes all memory
  private static final DateTimeFormatter MONTH =
      new DateTimeFormatterBuilder().appendValue(ChronoField.YEAR, 4, 10, SignStyle.EXCEEDS_PAD).appendLiteral('-')
          .appendValue(ChronoField.MONTH_OF_YEAR, 2).toFormatter(Locale.ROOT);
  private static final Map<Class<?>, Shape> SHAPES = new HashMap<>();

  private record Scalar(String text, BiConsumer<Object, CborWriter> writer, Function<CborReader, Object> reader,
      Object sample) implements Shape {
    @Override
    public void write(Object value, CborWriter out) {
      writer.accept(value, out);
    }

    @Override
    public Object read(CborReader in) {
      return reader.apply(in);
    }

    @Override
    public void sample(Sampler sampler, int levels) {
      writer.accept(sample, sampler.out());
    }
  }

  static {
    add("long", (value, out) -> out.integer((Long) value), CborReader::integer, -4_711_000_000L, long.class,
        Long.class);
    add("int", (value, out) -> out.integer((Integer) value),
        in -> (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE), 471_100, int.class, Integer.class);
    add("short", (value, out) -> out.integer((Short) value),
        in -> (short) in.integer(Short.MIN_VALUE, Short.MAX_VALUE), (short) -4711, short.class, Short.class);
    add("byte", (value, out) -> out.integer((Byte) value), in -> (byte) in.integer(Byte.MIN_VALUE, Byte.MAX_VALUE),
        (byte) 47, byte.class, Byte.class);
    // a number, since one char may be half of a pair
    add("char", (value, out) -> out.integer((Character) value),
        in -> (char) in.integer(Character.MIN_VALUE, Character.MAX_VALUE), 'x', char.class, Character.class);
    add("boolean", (value, out) -> out.bool((Boolean) value), CborReader::bool, true, boolean.class, Boolean.class);
    add("float", (value, out) -> out.float32((Float) value), CborReader::float32, 47.11f, float.class, Float.class);
    add("double", (value, out) -> out.float64((Double) value), CborReader::float64, -47.11, double.class,
        Double.class);
    add("String", (value, out) -> out.text((String) value), CborReader::text, "a text", String.class);
    add("byte[]", (value, out) -> out.bytes((byte[]) value), CborReader::bytes, new byte[] {47, 11}, byte[].class);
    add("UUID", Scalars::writeUuid, Scalars::readUuid, new UUID(47, 11), UUID.class);
    add("BigInteger", (value, out) -> writeBig((BigInteger) value, out), Scalars::readBig, BigInteger.valueOf(4711),
        BigInteger.class);
    add("BigDecimal", Scalars::writeDecimal, Scalars::readDecimal, new BigDecimal("47.11"), BigDecimal.class);
    add(Instant.class, Instant::parse, "2026-01-02T03:04:05.678Z");
    add(Duration.class, Duration::parse, "PT47.11S");
    add(Period.class, Period::parse, "P1Y2M3D");
    add(LocalDate.class, LocalDate::parse, "2026-01-02");
    add(LocalTime.class, LocalTime::parse, "03:04:05.678");
    add(LocalDateTime.class, LocalDateTime::parse, "2026-01-02T03:04:05.678");
    add(OffsetDateTime.class, OffsetDateTime::parse, "2026-01-02T03:04:05.678+01:00");
    add(OffsetTime.class, OffsetTime::parse, "03:04:05.678+01:00");
    add(ZonedDateTime.class, ZonedDateTime::parse, "2026-01-02T03:04:05.678+01:00[Europe/Rome]");
    add(Year.class, text -> Year.of(Integer.parseInt(text)), "2026");
    // its `toString` leaves out the sign that `parse` needs behind the year 9999
    add("YearMonth", (value, out) -> out.text(MONTH.format((YearMonth) value)),
        in -> parsed(in, YearMonth.class, text -> YearMonth.parse(text, MONTH)), YearMonth.of(2026, 1),
        YearMonth.class);
    add(MonthDay.class, MonthDay::parse, "--01-02");
    add(ZoneId.class, ZoneId::of, "Europe/Rome");
    add(ZoneOffset.class, ZoneOffset::of, "+01:00");
  }

  private Scalars() {}

  private static void add(String text, BiConsumer<Object, CborWriter> writer, Function<CborReader, Object> reader,
      Object sample, Class<?>... types) {
    for (var type : types) SHAPES.put(type, new Scalar(text, writer, reader, sample));
  }

  /** As ISO 8601 writes it. */
  private static <T> void add(Class<T> type, Function<String, T> parser, String sample) {
    add(type.getSimpleName(), (value, out) -> out.text(value.toString()), in -> parsed(in, type, parser),
        parser.apply(sample), type);
  }

  private static <T> T parsed(CborReader in, Class<T> type, Function<String, T> parser) {
    String text = in.text();
    try {
      return parser.apply(text);
    } catch (DateTimeException | NumberFormatException | ArithmeticException wrong) {
      throw in.failure("the text is no " + type.getSimpleName());
    }
  }

  /** Null: it is none. */
  static Shape of(Class<?> type) {
    return SHAPES.get(type);
  }

  private static void writeUuid(Object value, CborWriter out) {
    var uuid = (UUID) value;
    out.tag(Cbor.UUID);
    out.bytes(ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits())
        .array());
  }

  private static UUID readUuid(CborReader in) {
    in.tag(Cbor.UUID);
    byte[] bytes = in.bytes();
    if (bytes.length != 16) throw in.failure("a UUID of " + bytes.length + " bytes");
    var buffer = ByteBuffer.wrap(bytes);
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  private static void writeBig(BigInteger value, CborWriter out) {
    boolean negative = value.signum() < 0;
    out.tag(negative ? Cbor.BIG_NEGATIVE : Cbor.BIG_POSITIVE);
    out.bytes((negative ? value.not() : value).toByteArray());
  }

  private static BigInteger readBig(CborReader in) {
    int tag = in.tag();
    if (tag != Cbor.BIG_POSITIVE && tag != Cbor.BIG_NEGATIVE) throw in.failure("tag " + tag + " is no big integer");
    var value = new BigInteger(1, in.bytes());
    return tag == Cbor.BIG_NEGATIVE ? value.not() : value;
  }

  private static void writeDecimal(Object value, CborWriter out) {
    var decimal = (BigDecimal) value;
    if (Math.abs((long) decimal.scale()) > MOST_SCALE)
      throw new CodecException(": a decimal with a scale of " + decimal.scale());
    out.tag(Cbor.DECIMAL);
    out.beginArray(2);
    out.integer(-decimal.scale());
    writeBig(decimal.unscaledValue(), out);
    out.end();
  }

  private static BigDecimal readDecimal(CborReader in) {
    in.tag(Cbor.DECIMAL);
    if (in.beginArray() != 2) throw in.failure("a decimal is two numbers");
    int scale = (int) -in.integer(-MOST_SCALE, MOST_SCALE);
    var value = new BigDecimal(readBig(in), scale);
    in.end();
    return value;
  }
}
