package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.Promise;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that routes of all kinds take HEAD and OPTIONS without code of the user. */
class HttpMethodsTest extends FileFixture {
  private static final BodyCodec TEXTS = new BodyCodec() {
    @Override
    public String mediaType() {
      return "text/x-object";
    }

    @Override
    public <T> T read(byte[] body, Class<T> type) {
      return type.cast(new String(body, StandardCharsets.US_ASCII));
    }

    @Override
    public byte[] write(Object object) {
      return object.toString().getBytes(StandardCharsets.US_ASCII);
    }
  };

  private void open() {
    UnaryOperator<HttpRoutes> all = routes -> routes.withBodyCodec(TEXTS).text("GET /text", exchange -> "text")
        .text("POST /text", exchange -> "posted").object("GET /object/{id}", exchange -> exchange.path("id"))
        .stream("GET /stream/{rest...}", exchange -> exchange.outputStream().write(new byte[100]))
        .stream("GET /none", exchange -> exchange.status(204))
        .stream("GET /failure", exchange -> {
          throw new HttpException(409, "no");
        })
        .text("/all", HttpExchange::method).files("/files", folder);
    open(routes -> all.apply(HttpRoutes.none().webSocket("GET /socket", connection -> {})
        .webSocket("/news", connection -> {}).text("POST /news", exchange -> "posted"))
        .mount("/in/{name}", all.apply(HttpRoutes.none()))
        .intercept((exchange, next) -> {
          exchange.header("X-Around", "yes");
          next.run();
        }));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/text", "/object/7", "/stream", "/stream/a/b", "/none", "/failure", "/files/digits.txt",
    "/files/none", "/socket", "/nowhere", "/in/1/text", "/in/1/object/7", "/in/1/stream/a", "/in/1/none",
    "/in/1/failure", "/in/1/files/digits.txt", "/in/1/nowhere"})
  void headGetsHeadersOfGetWithoutBody(String path) throws IOException {
    open();

    var response = send("HEAD", path);

    assertEquals("", body(response));
    if (!path.equals("/socket")) assertEquals(head(send("GET", path)), head(response));
    else assertTrue(response.startsWith("HTTP/1.1 405 ") && header(response, "Allow").equals("GET, OPTIONS"), response);
  }

  @Promise("27.12")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      /text            | GET, HEAD, OPTIONS, POST
      /object/7        | GET, HEAD, OPTIONS
      /stream/a/b      | GET, HEAD, OPTIONS
      /files           | GET, HEAD, OPTIONS
      /files/digits.txt | GET, HEAD, OPTIONS
      /files/none      | GET, HEAD, OPTIONS
      /socket          | GET, OPTIONS
      /news            | GET, OPTIONS, POST
      /in/1/text       | GET, HEAD, OPTIONS, POST
      /in/1/object/7   | GET, HEAD, OPTIONS
      /in/1/stream     | GET, HEAD, OPTIONS
      /in/1/files/a/b  | GET, HEAD, OPTIONS
      """)
  void optionsListsMethodsOfPath(String path, String methods) throws IOException {
    open();

    var response = send("OPTIONS", path);

    assertEquals("204", codeAndBody(response));
    assertEquals(methods, header(response, "Allow"));
  }

  @Test
  void routeForAllMethodsTakesMethodsThatWebSocketDoesNot() throws IOException {
    open(routes -> routes.webSocket("/news", connection -> {}).text("/{page}", HttpExchange::method));

    assertEquals("200 PUT", codeAndBody(send("PUT", "/news")));
    assertEquals("426", RawClient.codes(send("GET", "/news")));
  }

  @Test
  void routeForAllMethodsHandlesHeadAndOptions() throws IOException {
    open();

    for (var path : new String[] {"/all", "/in/1/all"}) {
      assertEquals("200 OPTIONS", codeAndBody(send("OPTIONS", path)));
      var response = send("HEAD", path);
      assertEquals("200", codeAndBody(response));
      assertEquals("4", header(response, "Content-Length"));
    }
    assertEquals("404", RawClient.codes(send("OPTIONS", "/in/1/nowhere")));
  }
}
