package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Handler;
import io.fibry.net.HttpOptions.RequestStart;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the headers that the options of a server add to every response. */
class HttpResponseHeadersTest {
  private static final String PAGE = "https://shop.example";
  private static final String LARGE_HEAD = "X-Large: " + "x".repeat(1_000) + "\r\n";

  private final ServerScope net = new ServerScope();
  private final Gate gate = new Gate();
  private HttpServer server;

  @AfterEach
  void close() {
    net.close();
  }

  private void open(Handler.Returning<RequestStart, Map<String, String>> headers) {
    var routes = HttpRoutes.none().text("GET /orders", exchange -> "tea").text("POST /orders", HttpExchange::bodyAsText)
        .text("GET /own", exchange -> {
          exchange.header("access-control-allow-origin", "*").header("Vary", "Accept").header("Set-Cookie", "a=1");
          return "own";
        }).text("GET /broken", exchange -> {
          throw new IllegalStateException("planned");
        }).text("GET /slow", exchange -> {
          gate.pass();
          return "slow";
        }).stream("GET /events", exchange -> exchange.eventActor().askExit()).webSocket("/socket", connection -> {});
    server = HttpServer.open(net.scope.anonymous(), 0, routes,
        o -> o.withMaxBody(10).withMaxHeaders(512).withMaxUri(64).withMaxExchanges(1).withHosts("a")
            .withResponseHeaders(headers));
  }

  private static Map<String, String> cors(RequestStart request) {
    return request.header("origin").filter(PAGE::equals)
        .map(page -> Map.of("Vary", "Origin", "Access-Control-Allow-Origin", page)).orElse(Map.of("Vary", "Origin"));
  }

  private String response(String requestLine, String headers) throws IOException {
    return RawClient.sendAndReadAll(server.port(),
        requestLine + " HTTP/1.1\r\nHost: a\r\nOrigin: " + PAGE + "\r\n" + headers + "Connection: close\r\n\r\n");
  }

  /** Returns the values of a header, in the order of its lines. */
  private static List<String> values(String response, String name) {
    return response.substring(0, response.indexOf("\r\n\r\n")).lines()
        .filter(line -> line.toLowerCase().startsWith(name.toLowerCase() + ": "))
        .map(line -> line.substring(name.length() + 2)).toList();
  }

  private static void assertCors(int status, String response) {
    assertEquals(status + " [" + PAGE + "] [Origin]", RawClient.codes(response) + " "
        + values(response, "Access-Control-Allow-Origin") + " " + values(response, "Vary"), response);
  }

  @Promise("27.47")
  @ParameterizedTest
  @CsvSource({"GET /orders, 200", "HEAD /orders, 200", "OPTIONS /orders, 204", "OPTIONS *, 204", "DELETE /orders, 405",
    "TRACE /orders, 405", "GET /none, 404", "OPTIONS /none, 404", "GET /broken, 500", "GET /socket, 426",
    "GET /events, 200", "BREW /orders, 501", "GET orders, 400"})
  void everyResponseHasAddedHeaders(String requestLine, int status) throws IOException {
    open(HttpResponseHeadersTest::cors);

    assertCors(status, response(requestLine, ""));
  }

  @Promise("27.47")
  @Test
  void refusedRequestsGetAddedHeaders() throws IOException {
    open(HttpResponseHeadersTest::cors);

    assertCors(413, response("POST /orders", "Content-Length: 11\r\n"));
    assertCors(431, response("GET /orders", LARGE_HEAD));
    assertCors(417, response("GET /orders", "Expect: tea\r\n"));
    assertCors(400, response("GET /orders", "Host: b\r\n"));
    assertEquals("414 [] [Origin]", Stream.of(response("GET /" + "x".repeat(100), ""))
        .map(it -> RawClient.codes(it) + " " + values(it, "Access-Control-Allow-Origin") + " " + values(it, "Vary"))
        .findFirst().orElseThrow()); // the origin was not read
  }

  @Promise("27.47")
  @Test
  void chunkedBodyThatIsTooLongGetsAddedHeaders() throws IOException {
    open(HttpResponseHeadersTest::cors);

    assertCors(413, RawClient.sendAndReadAll(server.port(), "POST /orders HTTP/1.1\r\nHost: a\r\nOrigin: " + PAGE
        + "\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n"));
  }

  @Promise("27.47")
  @Test
  void refusalOfFullServerHasAddedHeaders() throws Exception {
    open(HttpResponseHeadersTest::cors);
    try (var slow = new RawClient(server.port())) {
      var slowResponse = slow.send(RawClient.get("/slow")).readToEndLater();
      Patience.await(gate.entered);

      assertCors(503, response("GET /orders", ""));

      Gate.openAll();
      assertEquals("200", RawClient.codes(Patience.value(slowResponse)));
    }
  }

  @Promise("27.47")
  @Test
  void webSocketBeginsWithAddedHeaders() throws IOException {
    open(request -> Map.of("X-Server", "shop"));

    var response = RawClient.sendAndReadAll(server.port(), "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
        + "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");

    assertEquals("101 [shop]", RawClient.codes(response) + " " + values(response, "X-Server"));
  }

  @Promise("27.47")
  @Test
  void headerOfHandlerReplacesAddedHeaderExceptVaryAndCookies() throws IOException {
    open(request -> Map.of("Access-Control-Allow-Origin", PAGE, "Vary", "Origin", "Set-Cookie", "b=2"));

    var response = response("GET /own", "");

    assertEquals("[*] [Accept, Origin] [a=1, b=2]", values(response, "Access-Control-Allow-Origin") + " "
        + values(response, "Vary") + " " + values(response, "Set-Cookie"), response);
    assertCorsOfError(response("GET /broken", ""));
  }

  private static void assertCorsOfError(String response) {
    assertEquals("500 [Origin] [b=2]",
        RawClient.codes(response) + " " + values(response, "Vary") + " " + values(response, "Set-Cookie"), response);
  }

  @Promise("27.47")
  @Test
  void functionGetsRequestOnceAsFarAsItWasRead() throws IOException {
    var received = new LinkedBlockingQueue<String>();
    open(request -> {
      received.add(request.method() + " " + request.path() + " " + request.header("ORIGIN").isPresent());
      return Map.of();
    });

    response("GET /orders?x=1", "");
    response("BREW /tea%20pot", "");
    response("GET /../x", "");
    RawClient.sendAndReadAll(server.port(), "\0");

    assertEquals(List.of("GET Optional[/orders] true", "BREW Optional[/tea pot] true", "GET Optional.empty true",
        " Optional.empty false"), List.copyOf(received));
  }

  static Stream<Arguments> brokenFunctions() {
    var nullValue = new HashMap<String, String>();
    nullValue.put("X-Null", null);
    var twice = new LinkedHashMap<String, String>();
    twice.put("X-Twice", "1");
    twice.put("x-twice", "2");
    return Stream.concat(Stream.<Arguments>of(
        Arguments.of("planned", (Handler.Returning<RequestStart, Map<String, String>>) request -> {
          throw new IOException("planned");
        }), Arguments.of("StackOverflowError",
            (Handler.Returning<RequestStart, Map<String, String>>) request -> endlessly())),
        Stream.of(entry("the headers of a response", null), entry("the value of header X-Null", nullValue),
            entry("header x-twice is there twice", twice),
            entry("cannot have the value", Map.of("X-Good", "1", "X-Text", "a\r\nX-Evil: 1")),
            entry("cannot have the value", Map.of("X-Text", "a\nX-Evil: 1")),
            entry("cannot have the value", Map.of("X-Text", "a\0")),
            entry("cannot have the value", Map.of("X-Text", "\u20ac")),
            entry("cannot be the name of a header", Map.of("X-Evil: 1\r\nX-Name", "a")),
            entry("cannot be the name of a header", Map.of("", "a")),
            entry("header content-LENGTH cannot be added", Map.of("content-LENGTH", "3")),
            entry("header Connection cannot be added", Map.of("Connection", "close")),
            entry("header Transfer-Encoding cannot be added", Map.of("Transfer-Encoding", "chunked")),
            entry("header Content-Type cannot be added", Map.of("Content-Type", "text/html")),
            entry("header Date cannot be added", Map.of("Date", "now")),
            entry("header Sec-WebSocket-Accept cannot be added", Map.of("Sec-WebSocket-Accept", "x"))));
  }

  private static Arguments entry(String logged, Map<String, String> headers) {
    return Arguments.of(logged, (Handler.Returning<RequestStart, Map<String, String>>) request -> headers);
  }

  private static Map<String, String> endlessly() {
    return Map.of("X-Depth", "" + endlessly());
  }

  @Promise("27.47")
  @ParameterizedTest
  @MethodSource("brokenFunctions")
  void brokenFunctionIsLoggedAndResponseHasNoneOfItsHeaders(String logText,
      Handler.Returning<RequestStart, Map<String, String>> broken) throws IOException {
    open(broken);
    try (var logged = new Logged()) {
      for (var line : List.of("GET /orders:200", "GET /none:404", "BREW /orders:501")) {
        var response = response(line.substring(0, line.indexOf(':')), "");

        assertEquals(line.substring(line.indexOf(':') + 1), RawClient.codes(response));
        assertEquals("", String.join("", Arrays.stream(response.split("\r\n")).filter(it -> it.startsWith("X-"))
            .toList()));
      }
      assertTrue(logged.text().contains("withResponseHeaders failed"), logged.text());
      assertTrue(logged.text().contains(logText), logged.text());
      assertFalse(logged.text().contains("\nX-Evil"), logged.text());
    }
  }

  @Promise("27.47")
  @Test
  void dumpShowsFunctionThatWaits() throws Exception {
    open(request -> {
      gate.pass();
      return Map.of();
    });
    try (var client = new RawClient(server.port())) {
      var response = client.send(RawClient.get("/orders")).readToEndLater();
      Patience.await(gate.entered);

      Patience.eventually(() -> net.scope.dump().contains("the headers of a response"));

      gate.open();
      assertEquals("200", RawClient.codes(Patience.value(response)));
      assertFalse(net.scope.dump().contains("the headers of a response"));
    }
  }

  @Promise("27.47")
  @ParameterizedTest
  @ValueSource(strings = {"GET /orders", "BREW /orders"})
  void errorOfVirtualMachineInFunctionCountsAsServerError(String requestLine) throws IOException {
    open(request -> {
      throw new InternalError("planned");
    });

    assertEquals("", response(requestLine, ""));

    Patience.eventually(() -> count(ResponseCounts::serverErrors) == 1);
    assertEquals(0, count(ResponseCounts::successful));
  }

  private long count(ToLongFunction<ResponseCounts> kind) {
    return server.stats().stream().mapToLong(stats -> kind.applyAsLong(stats.responses())).sum();
  }

  @Promise("27.47")
  @Test
  void interruptLeftByFunctionDoesNotDisturbExchange() throws IOException {
    open(request -> {
      Thread.currentThread().interrupt();
      return Map.of("Vary", "Origin");
    });

    assertEquals("200", RawClient.codes(response("GET /orders", "")));
  }
}
