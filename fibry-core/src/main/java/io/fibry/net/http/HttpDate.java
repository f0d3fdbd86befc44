package io.fibry.net.http;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the dates in headers. */
final class HttpDate {
  // a year of two digits is at most 50 years in the future
  private static final LocalDate FIRST_YEAR = LocalDate.now(ZoneOffset.UTC).minusYears(49);

  /** The format that clients send, and two old formats that RFC 9110 wants servers to accept. */
  private static final List<DateTimeFormatter> FORMATS = List.of(DateTimeFormatter.RFC_1123_DATE_TIME,
      new DateTimeFormatterBuilder().appendPattern("EEEE, dd-MMM-")
          .appendValueReduced(ChronoField.YEAR, 2, 2, FIRST_YEAR).appendPattern(" HH:mm:ss 'GMT'")
          .toFormatter(Locale.ENGLISH).withZone(ZoneOffset.UTC),
      DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH).withZone(ZoneOffset.UTC));

  private HttpDate() {}

  /** Returns the date, or empty if the text is no date. */
  static Optional<Instant> parse(String text) {
    for (var format : FORMATS) {
      try {
        return Optional.of(format.parse(text, Instant::from));
      } catch (DateTimeException otherFormat) {}
    }
    return Optional.empty();
  }
}
