package io.fibry.net;

import io.fibry.text.Escapes;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * Makes a line of an {@link AccessLogEntry}. Immutable and thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="accessLog"}
 *
 * <p>Each line is printable ASCII without a line end. No text of a client can end its field or its
 * line, because all other characters, quotes and backslashes are escaped. Queries may contain
 * secrets, such as tokens. So lines have neither the query of the request nor the query of the
 * referrer, unless {@link #withQuery} adds them.
 */
public final class AccessLogFormat implements Function<AccessLogEntry, String> {
  // characters that the path of a URI may have, beside letters and digits
  private static final String UNESCAPED_IN_PATH = "!$&'()*+,-./:;=@_~";
  private static final String NONE = "-"; // stands for a value that is not known
  private static final String DELIMITERS = " \"\\"; // characters that end a field
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  private enum Layout {
    COMMON, COMBINED, JSON
  }

  private final Layout layout;
  private final boolean hasQuery;

  private AccessLogFormat(Layout layout, boolean hasQuery) {
    this.layout = layout;
    this.hasQuery = hasQuery;
  }

  /**
   * {@return the Common Log Format of Apache and other servers} The line has the client, the user,
   * the time in UTC, the request line, the status and the bytes. The bytes include the head of the
   * response. The path is in its shortest form, and may differ from the path that the client has
   * sent.
   */
  public static AccessLogFormat common() {
    return new AccessLogFormat(Layout.COMMON, false);
  }

  /** {@return the Combined Log Format: {@link #common}, the referrer and the user agent} */
  public static AccessLogFormat combined() {
    return new AccessLogFormat(Layout.COMBINED, false);
  }

  /**
   * {@return an object of JSON per line} It has the names of {@link AccessLogEntry}, and
   * {@code durationMicros} for the duration. A value that the entry does not have is left out.
   */
  public static AccessLogFormat json() {
    return new AccessLogFormat(Layout.JSON, false);
  }

  /** {@return this format, with the queries of the request and of the referrer} */
  public AccessLogFormat withQuery() {
    return new AccessLogFormat(layout, true);
  }

  /** {@return the line of an entry, without a line end} */
  @Override
  public String apply(AccessLogEntry entry) {
    return layout == Layout.JSON ? jsonLine(entry) : line(entry);
  }

  private Optional<String> referrer(AccessLogEntry entry) {
    return hasQuery ? entry.referrer() : entry.referrer().map(AccessLogFormat::withoutQuery);
  }

  private static String withoutQuery(String url) {
    int end = 0;
    while (end < url.length() && "?#".indexOf(url.charAt(end)) < 0) end++;
    return url.substring(0, end);
  }

  // ---- common and combined

  private String line(AccessLogEntry entry) {
    var line = new StringBuilder(entry.clientText()).append(" - ");
    appendEscaped(entry.user().flatMap(AccessLogFormat::known).orElse(NONE), DELIMITERS, line);
    line.append(" [").append(TIME.format(entry.startedAt())).append("] \"");
    appendRequest(entry, line);
    line.append("\" ").append(entry.status()).append(' ');
    line.append(entry.bytesSent() == 0 ? NONE : Long.toString(entry.bytesSent()));
    if (layout == Layout.COMBINED) {
      appendQuoted(referrer(entry), line);
      appendQuoted(entry.userAgent(), line);
    }
    return line.toString();
  }

  private void appendRequest(AccessLogEntry entry, StringBuilder line) {
    appendEscaped(known(entry.method()).orElse(NONE), DELIMITERS, line);
    Escapes.appendPercentEncoded(known(entry.path()).orElse(NONE), UNESCAPED_IN_PATH, line.append(' '));
    if (hasQuery) entry.query().ifPresent(query -> appendEscaped(query, DELIMITERS, line.append('?')));
    if (!entry.protocol().isEmpty()) appendEscaped(entry.protocol(), DELIMITERS, line.append(' '));
  }

  private static void appendQuoted(Optional<String> text, StringBuilder line) {
    line.append(" \"");
    appendEscaped(text.orElse(NONE), "\"\\", line);
    line.append('"');
  }

  /**
   * Adds a text. Characters outside of ASCII, control characters and the given characters are
   * written as {@code \x} and two digits, or as a backslash, {@code u} and four digits.
   */
  private static void appendEscaped(String text, String escaped, StringBuilder line) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= ' ' && c < 0x7f && escaped.indexOf(c) < 0) line.append(c);
      else if (c <= 0xff) line.append(String.format("\\x%02x", (int) c));
      else line.append(String.format("\\u%04x", (int) c));
    }
  }

  // ---- JSON

  private String jsonLine(AccessLogEntry entry) {
    var json = new StringBuilder("{");
    appendText("startedAt", Optional.of(entry.startedAt().toString()), json);
    appendText("client", Optional.of(entry.clientText()), json);
    appendText("user", entry.user(), json);
    appendText("method", known(entry.method()), json);
    appendText("path", known(entry.path()), json);
    if (hasQuery) appendText("query", entry.query(), json);
    appendText("protocol", known(entry.protocol()), json);
    appendText("route", entry.route(), json);
    json.append(",\"status\":").append(entry.status()).append(",\"bytesSent\":").append(entry.bytesSent());
    json.append(",\"durationMicros\":").append(entry.duration().toNanos() / 1_000);
    appendText("referrer", referrer(entry), json);
    appendText("userAgent", entry.userAgent(), json);
    appendText("failureNumber", entry.failureNumber(), json);
    appendText("traceId", entry.traceId(), json);
    return json.append('}').toString();
  }

  private static Optional<String> known(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  private static void appendText(String name, Optional<String> text, StringBuilder json) {
    text.ifPresent(value -> {
      if (json.length() > 1) json.append(',');
      json.append('"').append(name).append("\":");
      Escapes.appendJson(value, "", json);
    });
  }
}
