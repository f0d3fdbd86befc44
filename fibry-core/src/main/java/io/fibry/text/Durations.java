package io.fibry.text;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations as numbers, and as people say them. */
public final class Durations {
  /** Two of them, and a time, can be added and compared. */
  public static final long MAX_NANOS = Long.MAX_VALUE / 4;

  private static final long MILLENNIUM = 365_000; // days
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
  private static final long MINUTE = 60_000_000_000L; // ns

  private Durations() {}

  /** At most {@link #MAX_NANOS}. */
  public static long nanos(Duration duration) {
    return Math.min(MAX_NANOS, TimeUnit.NANOSECONDS.convert(duration));
  }

  /** Such as "300 ms" or "1 min 30 s"; three digits of what is not exact, never rounded up. */
  public static String text(Duration time) {
    if (time == null) return "null"; // the check that follows names the parameter
    if (time.isNegative()) return "-" + text(time.getSeconds() == Long.MIN_VALUE ? FOREVER : time.negated());
    long days = time.toDays();
    if (days >= MILLENNIUM) return "for ever";
    if (days > 0) return two(days, "d", time.toHoursPart(), "h");
    if (time.toHours() > 0) return two(time.toHours(), "h", time.toMinutesPart(), "min");
    if (time.toMinutes() > 0) return two(time.toMinutes(), "min", time.toSecondsPart(), "s");
    return textOfNanos(time.toNanos());
  }

  /** Likewise. */
  public static String textOfNanos(long nanos) {
    if (nanos >= MINUTE || nanos < 0) return text(Duration.ofNanos(nanos));
    if (nanos == 0) return "0 s";
    return nanos < 1_000 ? nanos + " ns" : nanos < 1_000_000 ? decimal(nanos, 1_000, "µs")
        : nanos < 1_000_000_000 ? decimal(nanos, 1_000_000, "ms") : decimal(nanos, 1_000_000_000, "s");
  }

  private static String decimal(long nanos, long one, String unit) {
    long whole = nanos / one;
    long hundredths = nanos % one * 100 / one;
    if (whole >= 10) hundredths -= hundredths % 10;
    String digits = whole >= 100 || hundredths == 0 ? ""
        : hundredths % 10 == 0 ? "." + hundredths / 10 : hundredths < 10 ? ".0" + hundredths : "." + hundredths;
    return whole + digits + " " + unit;
  }

  private static String two(long many, String unit, int few, String smaller) {
    return many + " " + unit + (few == 0 ? "" : " " + few + " " + smaller);
  }
}
