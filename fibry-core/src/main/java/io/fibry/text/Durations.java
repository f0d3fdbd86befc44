package io.fibry.text;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Checks durations, and converts them to nanoseconds and to texts. The class has no static
 * initializer, so a stack overflow at its first use cannot make the class unusable.
 */
public final class Durations {
  /**
   * The longest duration that {@link #nanos} returns, in ns. The sum of two such durations and a
   * clock's time does not overflow.
   */
  public static final long MAX_NANOS = Long.MAX_VALUE / 4;

  private static final long MILLENNIUM_DAYS = 365_000;
  private static final long MINUTE_NANOS = 60_000_000_000L;

  private Durations() {}

  /**
   * Returns the time if it is not negative. Otherwise throws an exception.
   *
   * @param parameter the name of the caller's parameter
   * @param quantity the kind of time, with an article
   */
  public static Duration requireNotNegative(Duration time, String parameter, String quantity) {
    if (Objects.requireNonNull(time, parameter).isNegative())
      throw new IllegalArgumentException(quantity + " of " + text(time) + " is negative; give zero or more");
    return time;
  }

  /** Returns the nanoseconds of a duration, but at most {@link #MAX_NANOS}. */
  public static long nanos(Duration duration) {
    return Math.min(MAX_NANOS, TimeUnit.NANOSECONDS.convert(duration));
  }

  /**
   * Returns a text such as "300 ms" or "1 min 30 s". The text has at most two units or three
   * digits, and the duration is never rounded up.
   */
  public static String text(Duration time) {
    if (time == null) return "null"; // the caller's null check follows, and names the parameter
    if (time.isNegative())
      return "-" + text(time.getSeconds() == Long.MIN_VALUE ? Duration.ofSeconds(Long.MAX_VALUE) : time.negated());
    long days = time.toDays();
    if (days >= MILLENNIUM_DAYS) return "for ever";
    if (days > 0) return inTwoUnits(days, "d", time.toHoursPart(), "h");
    if (time.toHours() > 0) return inTwoUnits(time.toHours(), "h", time.toMinutesPart(), "min");
    if (time.toMinutes() > 0) return inTwoUnits(time.toMinutes(), "min", time.toSecondsPart(), "s");
    return textOfNanos(time.toNanos());
  }

  /** Returns the same text as {@link #text} for a duration of {@code nanos} nanoseconds. */
  public static String textOfNanos(long nanos) {
    if (nanos >= MINUTE_NANOS || nanos < 0) return text(Duration.ofNanos(nanos));
    if (nanos == 0) return "0 s";
    return nanos < 1_000 ? nanos + " ns" : nanos < 1_000_000 ? decimal(nanos, 1_000, "µs")
        : nanos < 1_000_000_000 ? decimal(nanos, 1_000_000, "ms") : decimal(nanos, 1_000_000_000, "s");
  }

  private static String decimal(long nanos, long unitNanos, String unit) {
    long units = nanos / unitNanos;
    long hundredths = nanos % unitNanos * 100 / unitNanos;
    if (units >= 10) hundredths -= hundredths % 10;
    String decimals = units >= 100 || hundredths == 0 ? ""
        : hundredths % 10 == 0 ? "." + hundredths / 10 : hundredths < 10 ? ".0" + hundredths : "." + hundredths;
    return units + decimals + " " + unit;
  }

  private static String inTwoUnits(long count, String unit, int smallerCount, String smallerUnit) {
    return count + " " + unit + (smallerCount == 0 ? "" : " " + smallerCount + " " + smallerUnit);
  }
}
