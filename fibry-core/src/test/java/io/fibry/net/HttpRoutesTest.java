package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.MailboxFullException;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests which route is chosen, which parts of a request handlers can read, and how exceptions
 * become responses.
 */
class HttpRoutesTest extends HttpFixture {
  /** A codec that writes numbers as text, and needs no library. */
  private static final BodyCodec NUMBERS = new BodyCodec() {
    @Override
    public String mediaType() {
      return "text/x-number; charset=us-ascii";
    }

    @Override
    public <T> T read(byte[] body, Class<T> type) {
      try {
        return type.cast(Integer.valueOf(new String(body, StandardCharsets.US_ASCII)));
      } catch (NumberFormatException malformed) {
        throw new HttpException(400, "the body is no Integer");
      }
    }

    @Override
    public byte[] write(Object object) {
      return ((Integer) object).toString().getBytes(StandardCharsets.US_ASCII);
    }
  };

  // ---- the choice of a route

  static HttpRoutes shop() {
    return HttpRoutes.none().text("GET /orders", exchange -> "all")
        .text("POST /orders", exchange -> "new")
        .text("/orders/{id}", exchange -> exchange.method() + " order " + exchange.path("id"))
        .text("GET /orders/{id}", exchange -> "order " + exchange.path("id"))
        .text("GET /orders/last", exchange -> "the last order")
        .text("GET /orders/{id}/lines/{line}", exchange -> exchange.path("id") + "." + exchange.path("line"))
        .text("GET /docs/{page...}", exchange -> "page '" + exchange.path("page") + "'")
        .text("GET /docs/index", exchange -> "index")
        .text("GET /", exchange -> "home");
  }

  @Promise("27.12")
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "GET | /orders | 200 all", "POST | /orders | 200 new", "GET | /orders/7 | 200 order 7",
    "DELETE | /orders/7 | 200 DELETE order 7", "GET | /orders/last | 200 the last order",
    "PUT | /orders/last | 200 PUT order last", "GET | /orders/7/lines/2 | 200 7.2",
    "GET | /docs | 200 page ''", "GET | /docs/ | 200 page ''", "GET | /docs/a/b%20c | 200 page 'a/b c'",
    "GET | /docs/index | 200 index", "GET | / | 200 home", "GET | /orders/ | 404 404 Not Found",
    "GET | /orders/7/lines | 404 404 Not Found", "GET | /orders/7/lines/2/x | 404 404 Not Found",
    "GET | /order | 404 404 Not Found", "GET | /ordersx | 404 404 Not Found",
    "PUT | /orders | 405 405 Method Not Allowed", "POST | / | 405 405 Method Not Allowed",
    "POST | /docs/x | 405 405 Method Not Allowed", "OPTIONS | /orders | 204", "OPTIONS | /nowhere | 404 404 Not Found"})
  void mostSpecificRouteHandlesRequest(String method, String path, String expected) {
    open(routes -> shop());

    assertEquals(expected, call(method, path));
  }

  @Promise("27.12")
  @Test
  void unsupportedMethodGetsAllowHeaderWithMethodsOfPath() {
    open(routes -> shop());

    for (var method : List.of("PUT", "OPTIONS"))
      assertEquals(Optional.of("GET, HEAD, OPTIONS, POST"),
          send(request("/orders").method(method, BodyPublishers.noBody())).headers().firstValue("Allow"));
    assertEquals("", send(request("/orders").HEAD()).body());
    assertEquals(Optional.of("3"), send(request("/orders").HEAD()).headers().firstValue("Content-Length"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders", "/orders/", "//", "/a//b", "/a?b", "/../a", "/a/..", "GET orders", "get /orders",
    "FETCH /orders", "GET  /orders", "/a/{b", "/a/b}", "/a/{}", "/a/x{b}", "/{a}/{a}", "/{a...}/b", "/{a b}", "", " /"})
  void invalidRouteIsRefused(String path) {
    var failure = assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().text(path, exchange -> ""));

    assertTrue(failure.getMessage().startsWith("'" + path + "' cannot be a route: "), failure.getMessage());
  }

  @Test
  void secondRouteForSameRequestsIsRefused() {
    var failure =
        assertThrows(IllegalArgumentException.class, () -> shop().text("GET /orders/{number}", exchange -> ""));

    assertEquals("'GET /orders/{number}' has a route already, 'GET /orders/{id}'; give each path only one route",
        failure.getMessage());
    shop().text("PUT /orders/{number}", exchange -> "").text("GET /orders/{number}/{rest...}", exchange -> "");
  }

  // ---- the request that handlers read

  @Test
  void handlerReadsAllPartsOfRequest() {
    open(routes -> routes.text("POST /x/{id}",
        exchange -> exchange.queryParameters() + " " + exchange.headers().get("x-a") + " "
            + new String(exchange.bodyAsBytes(), StandardCharsets.UTF_8) + exchange.bodyAsText() + " "
            + exchange.remoteAddress().getAddress().equals(InetAddress.getLoopbackAddress()) + " "
            + exchange.path("id")));

    var response = send(request("/x/a%2Bb?a=1&b&a=2+%C3%A4&&=e").header("X-A", "one").header("X-A", "two")
        .POST(BodyPublishers.ofString("body")));

    assertEquals("{a=[1, 2 ä], b=[], =[e]} [one, two] bodybody true a+b", response.body());
  }

  @Test
  void unknownPathParameterIsNamedInLog() {
    try (var logged = new Logged()) {
      open(routes -> routes.text("/x/{id}", exchange -> exchange.path("number")));

      assertTrue(call("GET", "/x/1").startsWith("500 "));
      assertTrue(logged.text().contains("the route '/x/{id}' has no {number}"), logged.text());
    }
  }

  @Promise("27.21")
  @Test
  void validFormIsParsedAndMalformedFormIsRefused() {
    open(routes -> routes.text("POST /form", exchange -> exchange.form().toString()));
    var form = request("/form").header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");

    assertEquals("{name=[Ada L], a=[1, 2]}", send(form.POST(BodyPublishers.ofString("name=Ada+L&a=1&a=2"))).body());
    assertEquals("{name=[Zo\u00eb \u0127], place=[\u0141\u00f3d\u017a]}",
        send(form.POST(BodyPublishers.ofString("name=Zo\u00eb+\u0127&place=%C5%81%C3%B3d%C5%BA"))).body());
    for (var malformed : List.of("name=%zz", "name=%4\uff11"))
      assertEquals(400, send(form.POST(BodyPublishers.ofString(malformed))).statusCode());
    assertEquals(415,
        send(request("/form").header("Content-Type", "application/json").POST(BodyPublishers.ofString("{}")))
            .statusCode());
  }

  @Promise("27.21")
  @Test
  void bodyCodecReadsAndWritesObjects() {
    open(routes -> routes.withBodyCodec(NUMBERS).object("POST /twice", exchange -> 2 * exchange.bodyAs(Integer.class)));

    var response = send(request("/twice").header("Content-Type", "text/x-number").POST(BodyPublishers.ofString("21")));
    assertEquals("42", response.body());
    assertEquals(Optional.of("text/x-number; charset=us-ascii"), response.headers().firstValue("Content-Type"));
    assertEquals("400 the body is no Integer", call("POST", "/twice"));
    assertEquals(415,
        send(request("/twice").header("Content-Type", "text/plain").POST(BodyPublishers.ofString("1"))).statusCode());
  }

  @Promise("27.21")
  @Test
  void failureOfBodyCodecIsLoggedAndAnswered500() {
    try (var logged = new Logged()) {
      open(routes -> routes.withBodyCodec(NUMBERS).text("POST /a", exchange -> exchange.bodyAs(String.class)));

      assertTrue(send(request("/a").POST(BodyPublishers.ofString("1"))).body().startsWith("Internal server error "));
      assertTrue(logged.text().contains("the body codec cannot read a String for POST /a"), logged.text());
      assertTrue(logged.text().contains("ClassCastException"), logged.text());
    }
  }

  @Test
  void objectBodiesWithoutBodyCodecAreRefused() {
    assertEquals(
        "'/a' responds with objects, but these routes have no codec that makes bytes of objects; "
            + "call withBodyCodec(..) before",
        assertThrows(IllegalStateException.class, () -> HttpRoutes.none().object("/a", exchange -> 1)).getMessage());
    open(routes -> routes.text("/a", exchange -> "" + exchange.bodyAs(Integer.class)));
    assertTrue(call("POST", "/a").startsWith("500 "));
  }

  // ---- interceptors and exceptions

  @Promise("27.21")
  @Test
  void interceptorAppliesOnlyToRoutesAddedBeforeIt() {
    open(routes -> routes.text("/a", exchange -> "a").stream("/b", exchange -> exchange.outputStream().write('b'))
        .intercept((exchange, next) -> {
          if (exchange.header("Authorization").isEmpty()) {
            exchange.header("WWW-Authenticate", "Basic realm=\"x\"");
            throw new HttpException(401, "who are you?");
          }
          exchange.header("X-Seen", "yes");
          next.run();
        }).text("/open", exchange -> "open"));

    var refusal = send(request("/a"));
    assertEquals("401 who are you?", refusal.statusCode() + " " + refusal.body().strip());
    assertEquals(Optional.of("Basic realm=\"x\""), refusal.headers().firstValue("WWW-Authenticate"));
    for (var path : List.of("/a", "/b")) {
      var response = send(request(path).header("Authorization", "Basic x"));
      assertEquals(path, "/" + response.body());
      assertEquals(Optional.of("yes"), response.headers().firstValue("X-Seen"));
    }
    assertEquals("200 open", call("GET", "/open"));
    assertEquals(404, send(request("/nowhere")).statusCode());
  }

  @Test
  void interceptorThatNeitherRespondsNorContinuesCauses500() {
    try (var logged = new Logged()) {
      open(routes -> routes.text("/a", exchange -> "a").intercept((exchange, next) -> {}));

      assertTrue(call("GET", "/a").startsWith("500 "));
      assertTrue(logged.text().contains("code around '/a' neither called next nor responded"), logged.text());
    }
  }

  @Test
  void interceptorMayRespondInsteadOfHandler() {
    open(routes -> routes.text("/a", exchange -> "a").intercept((exchange, next) -> exchange.status(204)));

    assertEquals("204", call("GET", "/a"));
  }

  @Promise("27.21")
  @Test
  void failureRulesMapExceptionsToResponses() {
    try (var logged = new Logged()) {
      open(routes -> routes.text("/none", exchange -> { throw new NoSuchElementException("the secret"); })
          .text("/bad", exchange -> {
            exchange.header("Content-Length", "1000").status(201);
            throw new IllegalArgumentException("too many");
          }).text("/sold", exchange -> { throw new ArithmeticException("only 1"); })
          .text("/worse", exchange -> {
            throw new IllegalStateException("made up");
          })
          .onFailure(NoSuchElementException.class, 404)
          .onFailure(IllegalArgumentException.class, failed -> {
            failed.exchange().status(422).header("X-Why", "yes");
            return failed.failure().getMessage() + " at " + failed.exchange().path();
          }).onFailure(ArithmeticException.class, 409, failure -> failure.getMessage() + " of shoes left")
          .onFailure(IllegalStateException.class, failed -> {
            throw new IOException("the rule is broken");
          }));

      assertEquals("404 404 Not Found", call("GET", "/none"));
      assertEquals("422 too many at /bad", call("GET", "/bad"));
      assertEquals("409 only 1 of shoes left", call("GET", "/sold"));
      assertEquals("", logged.entriesAbout("HTTP server", "HttpRoutesTest"));
      assertTrue(call("GET", "/worse").startsWith("500 "));
      assertTrue(logged.text().contains("the rule is broken") && logged.text().contains("made up"), logged.text());
    }
  }

  @Promise("27.38")
  @Test
  void retryAfterIsOneSecondUnlessRuleSetsIt() {
    var full = HttpRoutes.none().text("/", exchange -> {
      throw new MailboxFullException("full", "a", "m", 1);
    });
    open(routes -> routes.mount("/default", full).mount("/rule", full.onFailure(MailboxFullException.class,
        failed -> failed.exchange().status(503).header("Retry-After", "30").path() + " is busy"))
        .mount("/status", full.onFailure(MailboxFullException.class, 503))
        .mount("/text", full.onFailure(MailboxFullException.class, 503, failure -> "later"))
        .mount("/other", full.onFailure(MailboxFullException.class, 429)));

    var response = send(request("/default"));
    var responseOfRule = send(request("/rule"));

    assertEquals("503 [1]", response.statusCode() + " " + response.headers().allValues("Retry-After"));
    assertEquals("503 [30]", responseOfRule.statusCode() + " " + responseOfRule.headers().allValues("Retry-After"));
    assertEquals("/rule is busy\n", responseOfRule.body());
    for (var path : List.of("/status", "/text"))
      assertEquals(List.of("1"), send(request(path)).headers().allValues("Retry-After"), path);
    assertEquals(List.of(), send(request("/other")).headers().allValues("Retry-After"));
  }

  @Promise("27.40")
  @Test
  void codeAroundNoRouteIsRefused() {
    var refusal = assertThrows(IllegalStateException.class,
        () -> HttpRoutes.none().onFailure(IOException.class, 409).intercept((exchange, next) -> next.run()));

    assertEquals("intercept(..) runs code around the routes that were added before it, and there are none; call it "
        + "after text(..) and the other routes", refusal.getMessage());
  }

  @Promise("27.40")
  @Test
  void mountOfNoRouteIsRefused() {
    var admin = HttpRoutes.none();
    admin.text("/count", exchange -> "0"); // the routes that this returns are lost

    var refusal = assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().mount("/admin", admin));

    assertEquals("there are no routes to mount at '/admin'; HttpRoutes are immutable, so give the routes that text(..) "
        + "and the other methods return, and mount optional routes only if there are any", refusal.getMessage());
  }

  @Promise("27.21")
  @ParameterizedTest
  @ValueSource(classes = {IOException.class, FileNotFoundException.class})
  void ruleThatWouldNeverBeUsedIsRefused(Class<? extends Exception> type) {
    var routes = HttpRoutes.none().onFailure(IOException.class, 409);

    for (Supplier<HttpRoutes> rule : List.<Supplier<HttpRoutes>>of(() -> routes.onFailure(type, 404),
        () -> routes.onFailure(type, 404, failure -> "text"), () -> routes.onFailure(type, failed -> "text")))
      assertTrue(assertThrows(IllegalArgumentException.class, rule::get).getMessage().startsWith(
          "a rule for " + type.getSimpleName()
              + " would never be used, because the earlier rule for IOException fits"));
    routes.onFailure(Exception.class, 500); // more general, so the first rule hides only a part
  }

  @Test
  void successStatusForExceptionIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().onFailure(IOException.class, 200));
    assertThrows(IllegalArgumentException.class,
        () -> HttpRoutes.none().onFailure(IOException.class, 600, failure -> "late"));
    assertThrows(IllegalArgumentException.class, () -> new HttpException(200, "fine"));
    assertThrows(NullPointerException.class, () -> new HttpException(404, null));
  }

  // ---- counts

  @Promise("27.13")
  @Test
  void eachExchangeIsLoggedAndCounted() throws Exception {
    open(routes -> routes.text("GET /a/{id}", exchange -> "a").text("/broken",
        exchange -> { throw new IOException(); }));
    try (var logged = new Logged()) {
      // waits for each log entry, because a client may get its response before the exchange is
      // logged
      call("GET", "/a/1");
      Patience.eventually(() -> log.size() == 1);
      call("GET", "/a/2");
      Patience.eventually(() -> log.size() == 2);
      call("POST", "/a/2");
      Patience.eventually(() -> log.size() == 3);
      call("GET", "/broken");
      Patience.eventually(() -> log.size() == 4);
      RawClient.sendAndReadAll(server.port(), "rubbish\r\n\r\n");
      Patience.eventually(() -> log.size() == 5);
      assertTrue(logged.text().contains("GET /broken was answered 500"), logged.text());
    }

    assertEquals(
        List.of("GET /a/1 200 Optional[GET /a/{id}]", "GET /a/2 200 Optional[GET /a/{id}]",
            "POST /a/2 405 Optional.empty",
            "GET /broken 500 Optional[/broken]", "  400 Optional.empty"),
        log.stream().map(e -> e.method() + " " + e.path() + " " + e.status() + " " + e.route()).toList());
    assertTrue(log.stream().allMatch(e -> e.bytesSent() > 20 && e.duration().isPositive()));
    assertTrue(log.peek().toString().matches("127.0.0.1 \"GET /a/1\" 200 \\d+ bytes \\d+ ms"), log.peek().toString());
    var counts = server.stats().stream().map(s -> s.route() + " " + s.answered() + " " + s.failed()).toList();
    assertEquals(List.of("GET /a/{id} 2 0", "/broken 1 1", " 2 0"), counts);
  }

  @Test
  void failingAccessLogDoesNotFailRequests() {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/", exchange -> "home"),
        o -> o.withAccessLog(access -> {
          throw new IllegalStateException("made up");
        }));
    try (var logged = new Logged()) {
      for (int i = 0; i < 3; i++) assertEquals("200 home", call("GET", "/"));
      // a client may get its response before the failure is logged
      Patience.eventually(() -> logged.text().contains("the access log failed"));
    }
  }

  @Test
  void headersAndQueryParametersOfExchangeAreReadOnly() {
    open(routes -> routes.text("/", exchange -> {
      for (var map : List.<Map<String, List<String>>>of(exchange.queryParameters(), exchange.headers()))
        assertThrows(UnsupportedOperationException.class, () -> map.put("a", List.of()));
      return "fine";
    }));

    assertEquals("200 fine", call("GET", "/?a=1"));
  }
}
