package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests requests for files that depend on the version of the file. */
class HttpConditionsTest extends FileFixture {
  private static final String BEFORE = "Thu, 02 Jan 2020 03:04:04 GMT";
  private static final String AFTER = "Thu, 02 Jan 2020 03:04:06 GMT";

  /** Sends headers that are separated by semicolons. TAG stands for the tag of the file. */
  private String getIf(String headers) throws IOException {
    return get(headers.replace("TAG", tag()).replace("BEFORE", BEFORE).replace("AFTER", AFTER)
        .replace("MODIFIED", MODIFIED).split("; *"));
  }

  // ---- the version

  @Promise("27.26")
  @Test
  void etagIsStrongAndChangesWithFileSizeAndTime() throws IOException {
    var tag = tag();
    assertTrue(tag.matches("\"[\\x21\\x23-\\x7e]+\""), tag);
    assertEquals(tag, tag());

    var instant = Files.getLastModifiedTime(digits).toInstant();
    setModified(instant.plusMillis(1));
    assertNotEquals(tag, tag());
    setModified(instant);
    assertEquals(tag, tag());
    Files.writeString(digits, "01234567890");
    setModified(instant);
    assertNotEquals(tag, tag());
  }

  /** A time in the future is not before the present, either, so the test needs no waits. */
  @Promise("27.26")
  @Test
  void etagIsWeakIfModificationTimeIsNotPast() throws IOException {
    setModified(Instant.now().plus(Duration.ofHours(1)));
    var tag = tag();

    assertTrue(tag.startsWith("W/\""), tag);
    assertEquals("304", codeAndBody(get("If-None-Match: " + tag)));
    assertEquals("412", RawClient.codes(get("If-Match: " + tag)));
    assertEquals("412", RawClient.codes(get("If-Match: " + tag.substring(2))));
    assertEquals("200 0123456789", codeAndBody(get("If-Match: *")));
    for (var validator : new String[] {tag, tag.substring(2), header(get(), "Last-Modified")})
      assertEquals("200 0123456789", codeAndBody(get("Range: bytes=0-0", "If-Range: " + validator)));
  }

  @Test
  void lastModifiedHeaderIsNeverAfterDateHeader() throws IOException {
    setModified(Instant.now().plus(Duration.ofHours(1)));
    var response = get();

    assertFalse(date(response, "Last-Modified").isAfter(date(response, "Date")), response);
  }

  private static Instant date(String response, String name) {
    return ZonedDateTime.parse(header(response, name), DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
  }

  // ---- one condition

  @Promise("27.26")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      TAG                      | 304
      W/TAG                    | 304
      *                        | 304
      "a", TAG                 | 304
      TAG,"a"                  | 304
      W/"a" ,"b,c",,W/TAG      | 304
      , TAG                    | 304
      "a"; If-None-Match: TAG  | 304
      "other"                  | 200
      ''                       | 200
      a                        | 200
      w/TAG                    | 200
      "a" TAG                  | 200
      "a, TAG                  | 200
      *, "a"                   | 200
      """)
  void knownVersionIsNotSent(String tags, String code) throws IOException {
    var response = getIf("If-None-Match: " + tags);

    assertEquals(code, RawClient.codes(response), response);
    assertEquals(code.equals("200") ? "0123456789" : "", body(response));
    assertEquals(tag(), header(response, "ETag"));
    assertEquals(MODIFIED, header(response, "Last-Modified"));
  }

  @Promise("27.26")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      TAG      | 200
      *        | 200
      "a", TAG | 200
      W/TAG    | 412
      "other"  | 412
      ''       | 412
      "a" TAG  | 412
      """)
  void ifMatchWithoutStrongMatchGets412(String tags, String code) throws IOException {
    var response = getIf("If-Match: " + tags);

    assertEquals(code.equals("200") ? "200 0123456789" : "412 412 Precondition Failed", codeAndBody(response));
    assertEquals(code.equals("200") ? "HTTP/1.1 200 OK" : "HTTP/1.1 412 Precondition Failed",
        response.substring(0, response.indexOf('\r')));
  }

  @Promise("27.26")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      If-Modified-Since: MODIFIED                           | 304
      If-Modified-Since: AFTER                              | 304
      If-Modified-Since: BEFORE                             | 200
      If-Modified-Since: Thursday, 02-Jan-20 03:04:05 GMT   | 304
      If-Modified-Since: Thursday, 02-Jan-20 03:04:04 GMT   | 200
      If-Modified-Since: Thu Jan  2 03:04:05 2020           | 304
      If-Modified-Since: Thu Jan 16 03:04:05 2020           | 304
      If-Modified-Since: Thu Jan  2 03:04:04 2020           | 200
      If-Modified-Since: Fri, 02 Jan 2020 03:04:05 GMT      | 200
      If-Modified-Since: MODIFIED, MODIFIED                 | 200
      If-Modified-Since: yesterday                          | 200
      If-Modified-Since: ''                                 | 200
      If-Unmodified-Since: MODIFIED                         | 200
      If-Unmodified-Since: AFTER                            | 200
      If-Unmodified-Since: BEFORE                           | 412
      If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT   | 412
      If-Unmodified-Since: Sun Nov  6 08:49:37 1994         | 412
      If-Unmodified-Since: yesterday                        | 200
      """)
  void ifModifiedSinceAndIfUnmodifiedSinceAreObeyed(String header, String code) throws IOException {
    assertEquals(code, RawClient.codes(getIf(header)));
  }

  @Promise("27.27")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      TAG        | 206 1
      MODIFIED   | 206 1
      W/TAG      | 200 0123456789
      "other"    | 200 0123456789
      TAG, TAG   | 200 0123456789
      *          | 200 0123456789
      BEFORE     | 200 0123456789
      AFTER      | 200 0123456789
      yesterday  | 200 0123456789
      """)
  void rangeWithoutMatchingIfRangeGetsWholeFile(String validator, String response) throws IOException {
    assertEquals(response, codeAndBody(getIf("Range: bytes=1-1; If-Range: " + validator)));
  }

  // ---- several conditions

  @Promise("27.26")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      If-None-Match: "a"; If-Modified-Since: MODIFIED       | 200 0123456789
      If-None-Match: TAG; If-Modified-Since: BEFORE         | 304
      If-Match: TAG; If-Unmodified-Since: BEFORE            | 200 0123456789
      If-Match: "a"; If-Unmodified-Since: AFTER             | 412 412 Precondition Failed
      If-None-Match: TAG; If-Match: "a"                     | 412 412 Precondition Failed
      If-None-Match: TAG; If-Match: TAG                     | 304
      If-None-Match: TAG; If-Unmodified-Since: BEFORE       | 412 412 Precondition Failed
      If-Modified-Since: MODIFIED; If-Unmodified-Since: MODIFIED | 304
      If-None-Match: TAG; Range: bytes=1-1                  | 304
      If-None-Match: "a"; Range: bytes=1-1                  | 206 1
      If-Match: "a"; Range: bytes=1-1                       | 412 412 Precondition Failed
      If-Match: TAG; Range: bytes=1-1; If-Range: "a"        | 200 0123456789
      If-Match: TAG; Range: bytes=1-1; If-Range: TAG        | 206 1
      If-None-Match: TAG; Range: bytes=1-1; If-Range: TAG   | 304
      Range: bytes=10-; If-Range: "a"                       | 200 0123456789
      Range: bytes=10-; If-Range: TAG                       | 416 416 Range Not Satisfiable
      If-None-Match: TAG; Range: bytes=10-                  | 304
      If-Range: TAG                                         | 200 0123456789
      """)
  void conditionsAreCheckedInOrder(String headers, String response) throws IOException {
    assertEquals(response, codeAndBody(getIf(headers)));
  }

  @Promise("27.26")
  @Test
  void headGetsSameHeadersAsGet() throws IOException {
    for (var headers : new String[] {"X: y", "If-None-Match: *", "If-Match: \"a\"", "If-Range: \"a\""}) {
      var response = send("HEAD", "/digits.txt", headers);

      assertEquals(head(get(headers)), head(response));
      assertEquals("", body(response));
    }
  }

  @Test
  void conditionHeadersDoNotChangeErrorsOrRedirections() throws IOException {
    Files.createDirectory(folder.resolve("sub"));

    for (var headers : new String[] {"If-None-Match: *", "If-Match: \"a\"", "Range: bytes=1-1"}) {
      assertEquals("404", RawClient.codes(send("GET", "/none", headers)));
      assertEquals("301", RawClient.codes(send("GET", "/sub", headers)));
      assertEquals("405", RawClient.codes(send("POST", "/digits.txt", headers)));
    }
  }

  @Test
  void failedConditionGetsErrorBodyOfRoutes() throws IOException {
    open(routes -> routes.intercept((exchange, next) -> {
      exchange.header("Cache-Control", "no-cache");
      next.run();
    }).onFailure(Exception.class, 500).withErrorBody(ErrorBody.problemDetails()));

    for (var header : new String[] {"If-Match: \"a\"", "Range: bytes=10-"}) {
      var response = get(header);

      assertEquals("application/problem+json", header(response, "Content-Type"));
      assertEquals("no-cache", header(response, "Cache-Control"));
      assertTrue(body(response).contains("\"status\":" + RawClient.codes(response) + ","), response);
      assertTrue(RawClient.codes(response).startsWith("41"), response);
    }
  }
}
