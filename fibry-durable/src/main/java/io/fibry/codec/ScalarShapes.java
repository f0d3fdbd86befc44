package io.fibry.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
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
import java.util.function.Consumer;
import java.util.function.Function;

/** The shapes of simple types of the JDK, such as numbers, texts and dates. */
final class ScalarShapes {
  private static final int MAX_SCALE = 100_000; // max scale of a decimal: arithmetic with more may take all memory
  private static final DateTimeFormatter YEAR_MONTH =
      new DateTimeFormatterBuilder().appendValue(ChronoField.YEAR, 4, 10, SignStyle.EXCEEDS_PAD).appendLiteral('-')
          .appendValue(ChronoField.MONTH_OF_YEAR, 2).toFormatter(Locale.ROOT);
  private static final Map<Class<?>, Shape> SHAPES = new HashMap<>();

  private record ScalarShape(String schemaText, BiConsumer<Object, FormatWriter> writer,
      Function<FormatReader, Object> reader,
      Object sample) implements Shape {
    @Override
    public void write(Object value, FormatWriter out) {
      writer.accept(value, out);
    }

    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      return reader.apply(in);
    }

    @Override
    public boolean isKey() {
      return true;
    }

    @Override
    public void sample(Sampler sampler, int levels) {
      writer.accept(sample, sampler.out());
    }
  }

  static {
    add("long", (value, out) -> out.integer((Long) value), FormatReader::integer, -4_711_000_000L, long.class,
        Long.class);
    add("int", (value, out) -> out.integer((Integer) value),
        in -> (int) integer(in, Integer.MIN_VALUE, Integer.MAX_VALUE), 471_100, int.class, Integer.class);
    add("short", (value, out) -> out.integer((Short) value),
        in -> (short) integer(in, Short.MIN_VALUE, Short.MAX_VALUE), (short) -4711, short.class, Short.class);
    add("byte", (value, out) -> out.integer((Byte) value), in -> (byte) integer(in, Byte.MIN_VALUE, Byte.MAX_VALUE),
        (byte) 47, byte.class, Byte.class);
    // written as a number, because a char may be half of a surrogate pair
    add("char", (value, out) -> out.integer((Character) value),
        in -> (char) integer(in, Character.MIN_VALUE, Character.MAX_VALUE), 'x', char.class, Character.class);
    add("boolean", (value, out) -> out.bool((Boolean) value), FormatReader::bool, true, boolean.class, Boolean.class);
    add("float", (value, out) -> out.float32((Float) value), FormatReader::float32, 47.11f, float.class, Float.class);
    add("double", (value, out) -> out.float64((Double) value), FormatReader::float64, -47.11, double.class,
        Double.class);
    add("String", ScalarShapes::writeText, FormatReader::text, "a text", String.class);
    add("byte[]", (value, out) -> out.bytes((byte[]) value), FormatReader::bytes, new byte[] {47, 11}, byte[].class);
    add("UUID", (value, out) -> out.uuid((UUID) value), FormatReader::uuid, new UUID(47, 11), UUID.class);
    add("BigInteger", (value, out) -> out.bigInteger((BigInteger) value), FormatReader::bigInteger,
        BigInteger.valueOf(4711),
        BigInteger.class);
    add("BigDecimal", ScalarShapes::writeDecimal, ScalarShapes::readDecimal, new BigDecimal("47.11"), BigDecimal.class);
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
    // YearMonth.toString is not used, because it omits the plus sign that parse requires after the
    // year 9999
    add("YearMonth", (value, out) -> out.text(YEAR_MONTH.format((YearMonth) value)),
        in -> parse(in, YearMonth.class, text -> YearMonth.parse(text, YEAR_MONTH)), YearMonth.of(2026, 1),
        YearMonth.class);
    add(MonthDay.class, MonthDay::parse, "--01-02");
    add(ZoneId.class, ZoneId::of, "Europe/Rome");
    add(ZoneOffset.class, ZoneOffset::of, "+01:00");
  }

  private ScalarShapes() {}

  private static void add(String text, BiConsumer<Object, FormatWriter> writer, Function<FormatReader, Object> reader,
      Object sample, Class<?>... types) {
    for (var type : types) SHAPES.put(type, new ScalarShape(text, writer, reader, sample));
  }

  /** Adds a type whose values are written with {@code toString}, and read with a parser. */
  private static <T> void add(Class<T> type, Function<String, T> parser, String sample) {
    add(type.getSimpleName(), (value, out) -> out.text(value.toString()), in -> parse(in, type, parser),
        parser.apply(sample), type);
  }

  private static <T> T parse(FormatReader in, Class<T> type, Function<String, T> parser) {
    String text = in.text();
    try {
      return parser.apply(text);
    } catch (DateTimeException | NumberFormatException | ArithmeticException malformed) {
      throw in.failure("the text is no " + type.getSimpleName());
    }
  }

  /** Returns the shape of a type, or null if it is not one of the simple types. */
  static Shape of(Class<?> type) {
    return SHAPES.get(type);
  }

  private static long integer(FormatReader in, long min, long max) {
    long value = in.integer();
    if (value < min || value > max) throw in.failure(value + " is not in " + min + ".." + max);
    return value;
  }

  /** Writes a text. Refuses unpaired surrogates: the JDK would write question marks for them. */
  private static void writeText(Object value, FormatWriter out) {
    var text = (String) value;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (!Character.isSurrogate(c)) continue;
      boolean isPair = Character.isHighSurrogate(c) && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1));
      if (!isPair) throw CodecException.ofFault("the text has half of a surrogate pair at " + i);
      i++;
    }
    out.text(text);
  }

  private static void writeDecimal(Object value, FormatWriter out) {
    var decimal = (BigDecimal) value;
    if (!hasValidScale(decimal))
      throw CodecException.ofFault("a decimal with a scale of " + decimal.scale() + "; at most " + MAX_SCALE);
    out.decimal(decimal);
  }

  private static BigDecimal readDecimal(FormatReader in) {
    var decimal = in.decimal();
    if (!hasValidScale(decimal))
      throw in.failure("a decimal with a scale of " + decimal.scale() + "; at most " + MAX_SCALE);
    return decimal;
  }

  private static boolean hasValidScale(BigDecimal decimal) {
    return Math.abs((long) decimal.scale()) <= MAX_SCALE;
  }
}
