package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Compares the lines of the access log with lines that other programs can read. */
class AccessLogFormatTest {
  private static final Instant TIME = Instant.parse("2026-09-01T20:55:36.123456Z");
  private static final Pattern COMBINED = Pattern.compile(
      "\\S+ - [^ \"]+ \\[[^\\]]+] \"[^ \"]+ [^ \"]+ [^ \"]+\" \\d{3} (\\d+|-) \"([^\"\\\\]|\\\\.)*\" "
          + "\"([^\"\\\\]|\\\\.)*\"");
  private static final Pattern JSON_MEMBER =
      Pattern.compile("\"[a-zA-Z]+\":(\\d+|\"([^\"\\\\]|\\\\[\"\\\\]|\\\\u[0-9a-f]{4})*\")");

  private static InetSocketAddress client(String address) {
    try {
      return new InetSocketAddress(InetAddress.getByName(address), 4711);
    } catch (UnknownHostException failure) {
      throw new AssertionError(failure);
    }
  }

  /** An entry each of whose texts is the given text. */
  private static AccessLogEntry entryOf(String text) {
    var some = Optional.of(text);
    return new AccessLogEntry(TIME, client("::1"), some, text, text, some, text, some, 200, 5, Duration.ZERO, some,
        some, some, some);
  }

  private static final AccessLogEntry PLAIN = new AccessLogEntry(TIME, client("192.0.2.7"), Optional.of("Ada"), "GET",
      "/orders/7", Optional.of("token=secret"), "HTTP/1.1", Optional.of("/orders/{id}"), 200, 2_326,
      Duration.ofNanos(1_234_567), Optional.of("https://shop.example/list?key=secret#top"),
      Optional.of("Mozilla/5.0 (X)"), Optional.of("0f772f3f"), Optional.of("0af7651916cd43dd8448eb211c80319c"));
  private static final AccessLogEntry REFUSED = new AccessLogEntry(TIME, client("2001:db8::7"), Optional.empty(), "",
      "", Optional.empty(), "", Optional.empty(), 400, 0, Duration.ofMillis(2), Optional.empty(), Optional.empty(),
      Optional.empty(), Optional.empty());
  private static final AccessLogEntry HOSTILE = new AccessLogEntry(TIME, client("192.0.2.7"),
      Optional.of("Ada [x] \"\u00e4\u4e16"), "GET", "/a b\"\\\n\u4e16", Optional.of("a=\"\\&b"), "HTTP/1.1",
      Optional.empty(), 404, 9, Duration.ZERO, Optional.of("\" 200 1 \"\r\n"),
      Optional.of("x\\\"\u0085\u007f\t\u2028"), Optional.empty(), Optional.empty());

  @Promise("27.36")
  @Test
  void commonFormatWritesFieldsOfApacheCommonLog() {
    var format = AccessLogFormat.common();

    assertEquals("192.0.2.7 - Ada [01/Sep/2026:20:55:36 +0000] \"GET /orders/7 HTTP/1.1\" 200 2326",
        format.apply(PLAIN));
    assertEquals("2001:db8:0:0:0:0:0:7 - - [01/Sep/2026:20:55:36 +0000] \"- -\" 400 -", format.apply(REFUSED));
    assertEquals("192.0.2.7 - Ada\\x20[x]\\x20\\x22\\xe4\\u4e16 [01/Sep/2026:20:55:36 +0000] "
        + "\"GET /a%20b%22%5C%0A%E4%B8%96 HTTP/1.1\" 404 9", format.apply(HOSTILE));
  }

  @Promise("27.36")
  @Test
  void combinedFormatAlsoWritesReferrerAndUserAgent() {
    var format = AccessLogFormat.combined();

    assertEquals("192.0.2.7 - Ada [01/Sep/2026:20:55:36 +0000] \"GET /orders/7 HTTP/1.1\" 200 2326 "
        + "\"https://shop.example/list\" \"Mozilla/5.0 (X)\"", format.apply(PLAIN));
    assertEquals("2001:db8:0:0:0:0:0:7 - - [01/Sep/2026:20:55:36 +0000] \"- -\" 400 - \"-\" \"-\"",
        format.apply(REFUSED));
    assertTrue(format.apply(HOSTILE).endsWith(
        " 404 9 \"\\x22 200 1 \\x22\\x0d\\x0a\" \"x\\x5c\\x22\\x85\\x7f\\x09\\u2028\""), format.apply(HOSTILE));
  }

  @Promise("27.36")
  @Test
  void jsonFormatWritesObjectWithoutUnknownValues() {
    var format = AccessLogFormat.json();

    assertEquals("{\"startedAt\":\"2026-09-01T20:55:36.123456Z\",\"client\":\"192.0.2.7\",\"user\":\"Ada\","
        + "\"method\":\"GET\",\"path\":\"/orders/7\",\"protocol\":\"HTTP/1.1\",\"route\":\"/orders/{id}\","
        + "\"status\":200,\"bytesSent\":2326,\"durationMicros\":1234,\"referrer\":\"https://shop.example/list\","
        + "\"userAgent\":\"Mozilla/5.0 (X)\",\"failureNumber\":\"0f772f3f\","
        + "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\"}", format.apply(PLAIN));
    assertEquals("{\"startedAt\":\"2026-09-01T20:55:36.123456Z\",\"client\":\"2001:db8:0:0:0:0:0:7\","
        + "\"status\":400,\"bytesSent\":0,\"durationMicros\":2000}", format.apply(REFUSED));
    assertTrue(format.apply(HOSTILE).contains(",\"user\":\"Ada [x] \\\"\\u00e4\\u4e16\",\"method\":\"GET\","
        + "\"path\":\"/a b\\\"\\\\\\u000a\\u4e16\","), format.apply(HOSTILE));
  }

  @Promise("27.36")
  @Test
  void formatWritesQueryOnlyIfConfigured() {
    for (var format : List.of(AccessLogFormat.common(), AccessLogFormat.combined(), AccessLogFormat.json()))
      assertFalse(format.apply(PLAIN).contains("secret"), format.apply(PLAIN));
    assertFalse(PLAIN.toString().contains("secret"), PLAIN.toString());

    assertTrue(AccessLogFormat.common().withQuery().apply(PLAIN).contains("\"GET /orders/7?token=secret HTTP/1.1\""));
    assertTrue(AccessLogFormat.common().withQuery().apply(HOSTILE).contains("?a=\\x22\\x5c&b HTTP/1.1\" 404"));
    assertTrue(AccessLogFormat.combined().withQuery().apply(PLAIN)
        .contains(" \"https://shop.example/list?key=secret#top\""));
    assertTrue(AccessLogFormat.json().withQuery().apply(PLAIN).contains(",\"query\":\"token=secret\",\"protocol\":"));
  }

  @Promise("27.36")
  @Test
  void hostileTextsForgeNeitherFieldNorLine() {
    long seed = StressRuns.seed();
    var random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      var text = new StringBuilder();
      for (int i = random.nextInt(12); i >= 0; i--)
        text.append(random.nextBoolean() ? " \"\\[]{},:-\r\n\t\u0000\u0085\u2028".charAt(random.nextInt(16))
            : (char) random.nextInt(0x1_0000));
      var entry = entryOf(text.toString());

      var combinedLine = AccessLogFormat.combined().withQuery().apply(entry);
      var jsonLine = AccessLogFormat.json().withQuery().apply(entry);

      assertTrue(COMBINED.matcher(combinedLine).matches(), () -> "seed " + seed + ": " + combinedLine);
      assertTrue((combinedLine + jsonLine).chars().allMatch(c -> c >= ' ' && c < 0x7f), () -> "seed " + seed);
      assertEquals("{" + ",".repeat(14) + "}", JSON_MEMBER.matcher(jsonLine).replaceAll(""),
          () -> "seed " + seed + ": " + jsonLine);
    }
  }
}
