package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.MailboxFullException;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests routes below a path of other routes, code around routes, and the bodies of errors. */
class HttpMountTest extends HttpFixture {
  // ---- mounted routes

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "GET | /shop/orders | 200 all", "POST | /shop/orders | 200 new", "DELETE | /shop/orders/7 | 200 DELETE order 7",
    "GET | /shop/docs/a/b | 200 page 'a/b'", "GET | /shop | 200 home", "GET | / | 200 outer",
    "GET | /shop/ | 404 404 Not Found",
    "GET | /orders | 404 404 Not Found", "PUT | /shop/orders | 405 405 Method Not Allowed",
    "GET | /shops/9/orders/7 | 200 order 7 of 9"})
  void mountedRoutesHandlePathsBelowMountPath(String method, String path, String expected) {
    var ofShop = HttpRoutes.none().text("GET /orders/{id}",
        exchange -> "order " + exchange.path("id") + " of " + exchange.path("shop"));
    open(routes -> routes.text("GET /", exchange -> "outer").mount("/shop", HttpRoutesTest.shop())
        .mount("/shops/{shop}", ofShop));

    assertEquals(expected, call(method, path));
  }

  @Test
  void mountedFilesAreServedBelowMountPathAndFilesPath(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("a.txt"), "text of a");
    Files.writeString(folder.resolve("index.html"), "index");
    open(routes -> routes.mount("/m/{x}", HttpRoutes.none().files("/docs", folder)));

    assertEquals("200 text of a", call("GET", "/m/1/docs/a.txt"));
    assertEquals("200 index", call("GET", "/m/1/docs/"));
  }

  @Test
  void filterOfMountedRoutesAffectsNoOtherRoute() {
    var inner = HttpRoutes.none().text("/a", exchange -> "a").intercept((exchange, next) -> {
      throw new HttpException(401, "no");
    });
    open(routes -> routes.text("/b", exchange -> "b").mount("/in", inner).text("/c", exchange -> "c"));

    assertEquals("401 no", call("GET", "/in/a"));
    assertEquals("200 b", call("GET", "/b"));
    assertEquals("200 c", call("GET", "/c"));
  }

  @Test
  void failureRuleOfMountedRoutesPrecedesOuterRule() {
    var inner = HttpRoutes.none().text("/a", exchange -> {
      throw new NoSuchElementException("planned");
    }).text("/b", exchange -> {
      throw new IllegalStateException("planned");
    }).onFailure(NoSuchElementException.class, 404);
    open(routes -> routes.mount("/", inner).onFailure(RuntimeException.class, 409));

    assertEquals("404 404 Not Found", call("GET", "/a"));
    assertEquals("409 409 Conflict", call("GET", "/b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /a", "/a/{rest...}", "/a/", "a"})
  void pathThatCannotHaveRoutesBelowIsRefused(String path) {
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().mount(path, HttpRoutesTest.shop()));

    assertTrue(refusal.getMessage().contains("'" + path + "'"), refusal.getMessage());
  }

  @Test
  void mountRefusesPathThatHasRouteAlready() {
    var routes = HttpRoutes.none().text("GET /shop/orders", exchange -> "");

    var refusal = assertThrows(IllegalArgumentException.class, () -> routes.mount("/shop", HttpRoutesTest.shop()));

    assertTrue(refusal.getMessage().contains("'GET /shop/orders' has a route already"), refusal.getMessage());
  }

  // ---- filters

  @Test
  void filterMayChangeStatusAndHeadersAfterHandler() {
    open(routes -> routes.text("/a", exchange -> "a").intercept((exchange, next) -> {
      next.run();
      exchange.status(202).header("X-Time", "3 ms");
    }));

    var response = send(request("/a"));

    assertEquals("202 a", response.statusCode() + " " + response.body());
    assertEquals(Optional.of("3 ms"), response.headers().firstValue("X-Time"));
  }

  @Test
  void failureOfFilterAfterHandlerReplacesResponse() {
    open(routes -> routes.text("/a", exchange -> "a").intercept((exchange, next) -> {
      next.run();
      throw new HttpException(409, "too late");
    }));

    assertEquals("409 too late", call("GET", "/a"));
  }

  @Test
  void handlerReadsAttributeThatFilterHasSet() {
    open(routes -> routes
        .text("/a", exchange -> exchange.attribute(String.class).orElse("none") + exchange.attribute(Integer.class))
        .intercept((exchange, next) -> {
          exchange.attribute(String.class, "old").attribute(String.class, "new");
          next.run();
        }).text("/b", exchange -> exchange.attribute(String.class).orElse("none")));

    assertEquals("200 newOptional.empty", call("GET", "/a"));
    assertEquals("200 none", call("GET", "/b"));
  }

  // ---- error bodies

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "/none | 404 | Not Found |", "/thrown | 418 | Client Error | I am a \"teapot\"",
    "/line | 400 | Bad Request | no date", "/reason | 403 | Forbidden |", "/rule | 409 | Conflict |"})
  void problemDetailsHaveTitleStatusDetailAndInstance(String path, int status, String title, String detail) {
    open(routes -> routes.text("/thrown", exchange -> {
      exchange.header("Content-Type", "text/html");
      throw new HttpException(418, "I am a \"teapot\"");
    }).text("/line", exchange -> {
      throw new HttpException(400, "400 Bad Request: no date");
    }).text("/reason", exchange -> {
      throw new HttpException(403, "403 Forbidden");
    }).text("/rule", exchange -> {
      throw new IllegalStateException("planned");
    }).onFailure(IllegalStateException.class, 409).withErrorBody(ErrorBody.problemDetails()));

    var response = send(request(path));

    assertEquals(status, response.statusCode());
    assertEquals(List.of("application/problem+json"), response.headers().allValues("Content-Type"));
    assertEquals("{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + status
        + (detail == null ? "" : ",\"detail\":\"" + detail.replace("\"", "\\\"") + "\"") + ",\"instance\":\"" + path
        + "\"}\n", response.body());
  }

  @Promise("27.21")
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "/text | 409 | application/problem+json | \"detail\":\"only 1 of shoes left\"",
    "/null | 410 | application/problem+json | \"title\":\"Gone\"",
    "/rule | 422 | application/problem+json | \"detail\":\"too many at /rule\"",
    "/typed | 500 | text/csv | sold,out", "/moved | 303 | text/plain; charset=utf-8 | see the other"})
  void textOfFailureRuleHasFormOfErrorBody(String path, int status, String type, String part) {
    open(routes -> routes.text("/text", exchange -> {
      throw new IllegalStateException("only 1 of shoes left");
    }).text("/null", exchange -> {
      throw new NoSuchElementException();
    }).text("/rule", exchange -> {
      throw new IllegalArgumentException("too many");
    }).text("/typed", exchange -> {
      throw new ArithmeticException("sold,out");
    }).text("/moved", exchange -> {
      throw new UnsupportedOperationException("see the other");
    }).onFailure(IllegalStateException.class, 409, Throwable::getMessage)
        .onFailure(NoSuchElementException.class, 410, Throwable::getMessage)
        .onFailure(IllegalArgumentException.class, failed -> {
          failed.exchange().status(422);
          return failed.failure().getMessage() + " at " + failed.exchange().path();
        }).onFailure(ArithmeticException.class, failed -> {
          failed.exchange().header("Content-Type", "text/csv");
          return failed.failure().getMessage();
        }).onFailure(UnsupportedOperationException.class, failed -> {
          failed.exchange().status(303).header("Location", "/other");
          return failed.failure().getMessage();
        }).withErrorBody(ErrorBody.problemDetails()));

    var response = send(request(path));

    assertEquals(status, response.statusCode());
    assertEquals(List.of(type), response.headers().allValues("Content-Type"));
    assertTrue(response.body().contains(part), response.body());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"POST | /a | 405", "GET | /full | 503", "GET | /ws | 426", "TRACE | /a | 405"})
  void problemDetailsKeepAllowRetryAfterAndUpgradeHeaders(String method, String path, int status) throws IOException {
    open(routes -> routes.text("GET /a", exchange -> "a").text("/full", exchange -> {
      throw new MailboxFullException("full", "a", "m", 1);
    }).webSocket("/ws", connection -> {}).withErrorBody(ErrorBody.problemDetails()));

    var response =
        RawClient.sendAndReadAll(server.port(),
            method + " " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

    assertEquals("" + status, RawClient.codes(response));
    assertTrue(response.contains("Content-Type: application/problem+json\r\n"), response);
    assertTrue(response.contains(status == 405 ? "Allow: " : status == 503 ? "Retry-After: " : "Upgrade: "), response);
  }

  @Test
  void malformedBodyGetsErrorBodyIfOutputIsNotYetSent() throws IOException {
    open(routes -> routes.stream("POST /up", exchange -> {
      exchange.outputStream().write('x');
      exchange.body().readAllBytes();
    }).withErrorBody(ErrorBody.problemDetails()));

    var response = RawClient.sendAndReadAll(server.port(), "POST /up HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        + "Transfer-Encoding: chunked\r\n\r\nzz\r\n");

    assertEquals("400", RawClient.codes(response));
    assertTrue(response.endsWith("\"instance\":\"/up\"}\n"), response);
  }

  @Test
  void instanceOfProblemDetailsIsEncodedPath() {
    open(routes -> routes.withErrorBody(ErrorBody.problemDetails()));

    var body = send(request("/a%20b/%C3%A4%25")).body();

    assertTrue(body.endsWith("\"instance\":\"/a%20b/%C3%A4%25\"}\n"), body);
  }

  @Test
  void errorBodyOfRequestWithMalformedPathGetsNoPath() throws IOException {
    open(routes -> routes.withErrorBody(error -> new ErrorBody.Content("text/x", error.status() + " " + error.path())));

    assertTrue(RawClient.sendAndReadAll(server.port(), "GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n")
        .endsWith("\r\n\r\n400 Optional.empty"));
  }

  @Promise("27.37")
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "Content-Length: 1001 | 413 | a body of 1001 bytes; at most 1000 are allowed",
    "Transfer-Encoding: chunked | 413 | a body of more than 1000 bytes",
    "X-Long: %s | 431 | headers of more than 1000 bytes", "Expect: tea | 417 | an expectation other than 100-continue",
    "Host: b | 400 | two Host headers"})
  void refusalNamesPathAndLimitInErrorBodyOfRoute(String header, int status, String detail) throws IOException {
    var inner = HttpRoutes.none().text("POST /up", exchange -> exchange.bodyAsText())
        .withErrorBody(ErrorBody.problemDetails());
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().mount("/in", inner),
        o -> o.withMaxBody(1_000).withMaxHeaders(1_000));

    var response = RawClient.sendAndReadAll(server.port(), "POST /in/up HTTP/1.1\r\nHost: a\r\n"
        + header.replace("%s", "x".repeat(1_000)) + "\r\n\r\n3e9\r\n");

    assertEquals("" + status, RawClient.codes(response));
    assertTrue(response.endsWith("\"status\":" + status + ",\"detail\":\"" + detail
        + "\",\"instance\":\"/in/up\"}\n"), response);
  }

  @Promise("27.37")
  @Test
  void clientGetsReasonOfRefusalAsText() throws IOException {
    open(routes -> routes.text("/", exchange -> "a"));

    var response = RawClient.sendAndReadAll(server.port(), "GET / HTTP/1.1\r\n\r\n");

    assertTrue(response.endsWith("\r\n\r\n400 Bad Request: no Host header, or a Host header without a valid name\n"),
        response);
  }

  @Test
  void exceptionOfErrorBodyIsLoggedAndErrorIsSentAsText() {
    try (var logged = new Logged()) {
      open(routes -> routes.withErrorBody(error -> {
        throw new AssertionError("planned");
      }));

      assertEquals("404 404 Not Found", call("GET", "/none"));
      assertTrue(logged.text().contains("the error body failed"), logged.text());
    }
  }

  @Promise("27.21")
  @Test
  void errorBodyOfMountedRoutesAffectsNoOtherResponse() {
    var inner = HttpRoutes.none().text("GET /a", exchange -> {
      throw new HttpException(409, "planned");
    }).withErrorBody(error -> new ErrorBody.Content("text/x", "inner " + error.text()));
    open(routes -> routes.mount("/in", inner));

    assertEquals("409 inner planned", call("GET", "/in/a"));
    assertEquals("404 404 Not Found", call("GET", "/in/b"));
    assertEquals("405 405 Method Not Allowed", call("PUT", "/in/a"));
  }

  @Test
  void failureAnswered500ByRuleIsLoggedWithItsNumber() {
    try (var logged = new Logged()) {
      open(routes -> routes.text("/a", exchange -> {
        throw new IllegalStateException("planned");
      }).text("/b", exchange -> {
        throw new NoSuchElementException("planned");
      }).onFailure(IllegalStateException.class, failed -> failed.number())
          .onFailure(NoSuchElementException.class, 404));

      var number = call("GET", "/a").replace("500 ", "");
      assertEquals("404 404 Not Found", call("GET", "/b"));

      assertTrue(logged.text().contains("failure " + number + " of GET /a was answered 500"), logged.text());
      assertTrue(!logged.text().contains("GET /b"), logged.text());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/orders/:id", "/orders/*", "/orders/**"})
  void routePatternOfOtherFrameworkIsRefusedWithAdvice(String pattern) {
    var refusal = assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().text(pattern, exchange -> ""));

    assertTrue(refusal.getMessage().contains("give {name}"), refusal.getMessage());
  }

  @Test
  void webSocketRouteWithMethodOtherThanGetIsRefused() {
    var refusal = assertThrows(IllegalArgumentException.class,
        () -> HttpRoutes.none().webSocket("POST /ws", connection -> {}));

    assertTrue(refusal.getMessage().contains("'POST /ws'"), refusal.getMessage());
  }
}
