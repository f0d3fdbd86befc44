package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the responses to malformed requests, and that handlers read valid requests as the clients
 * sent them.
 */
class HttpBadInputTest {
  private static final String END = "Connection: close\r\n\r\n";
  private static final String POST = "POST / HTTP/1.1\r\nHost: a\r\n";

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("bad input", o -> o.withScheduler(clock));
  private final List<String> handledRequests = new CopyOnWriteArrayList<>();
  private HttpServer server;

  @BeforeEach
  void open() {
    var routes = HttpRoutes.none().text("/{any...}", exchange -> {
      var text = exchange.method() + " " + exchange.path() + " " + exchange.bodyAsText();
      handledRequests.add(text);
      return exchange.path().equals("/inject") ? exchange.header("X-Mine", "v\r\nSet-Cookie: a=b").path() : text;
    });
    server = HttpServer.open(scope.anonymous(), 0, routes, o -> o.withMaxBody(1_000));
  }

  @AfterEach
  void close() {
    server.close();
    scope.close();
  }

  static Stream<Arguments> malformedRequests() {
    var headers = new StringBuilder("GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 250; i++) headers.append("X-").append(i).append(": b\r\n");
    return Stream.of(
        arguments("no Host", "GET / HTTP/1.1\r\n\r\n", "400"),
        arguments("version 9.9", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "505"),
        arguments("version 1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "505"),
        arguments("empty version", "GET / \r\nHost: a\r\n\r\n", "400"),
        arguments("no version", "GET /\r\n\r\n", "400"),
        arguments("unknown method", "fooBAR / HTTP/1.1\r\nHost: a\r\n\r\n", "501"),
        arguments("binary garbage", "\u0000\u0001\u0002\u0003\u00ff\r\n\r\n", "400"),
        arguments("GET alone", "GET\r\n\r\n", "400"),
        arguments("empty IPv6 host", "GET / HTTP/1.1\r\nHost: []\r\n\r\n", "400"),
        arguments("IPv6 host with one colon", "GET / HTTP/1.1\r\nHost: [:]\r\n\r\n", "400"),
        arguments("IPv4 address in brackets", "GET / HTTP/1.1\r\nHost: [127.0.0.1]\r\n\r\n", "400"),
        arguments("IPv6 host with a letter", "GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", "400"),
        arguments("address with a user", "GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("address with a user, HTTP/1.0 without Host", "GET http://user@a/ HTTP/1.0\r\n\r\n", "400"),
        arguments("bad percent", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("percent cut off", "GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("bad percent in the query", "GET /?a=%g1 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("TLS hello", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", "400"),
        arguments("line feeds alone", "GET / HTTP/1.1\nHost: a\n\n", "400"),
        arguments("half a head", "GET / HTTP/1.1\r\nHost", "closed"),
        arguments("truncated body", POST + "Content-Length: 5\r\n\r\nabc", "closed"),
        arguments("silence", "", "closed"),
        arguments("length and coding", POST + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400"),
        arguments("coding and length", POST + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
            "400"),
        arguments("two lengths", POST + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "400"),
        arguments("one length twice", POST + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "400"),
        arguments("length -1", POST + "Content-Length: -1\r\n\r\n", "400"),
        arguments("length 3, 3", POST + "Content-Length: 3, 3\r\n\r\nabc", "400"),
        arguments("length 10^19", POST + "Content-Length: 10000000000000000000\r\n\r\n", "400"),
        arguments("length +3", POST + "Content-Length: +3\r\n\r\nabc", "400"),
        arguments("length 0x3", POST + "Content-Length: 0x3\r\n\r\nabc", "400"),
        arguments("empty length", POST + "Content-Length:\r\n\r\n", "400"),
        arguments("length too long", POST + "Content-Length: 1001\r\n\r\n", "413"),
        arguments("gzip, chunked", POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"),
        arguments("xchunked", POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"),
        arguments("two codings", POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            "400"),
        arguments("coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
        arguments("chunk size -1", chunked("-1\r\n"), "400"),
        arguments("chunk size 2^64-1", chunked("FFFFFFFFFFFFFFFF\r\n"), "400"),
        arguments("chunk size 17 zeros", chunked("000000000000000003\r\nabc\r\n0\r\n\r\n"), "400"),
        arguments("chunk size zz", chunked("zz\r\n"), "400"),
        arguments("chunk size 0x3", chunked("0x3\r\nabc\r\n0\r\n\r\n"), "400"),
        arguments("chunk size with a space", chunked("3 \r\nabc\r\n0\r\n\r\n"), "400"),
        arguments("no chunk size", chunked("\r\n\r\n"), "400"),
        arguments("chunk line with a line feed alone", chunked("3\nabc\r\n0\r\n\r\n"), "400"),
        arguments("chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n"), "400"),
        arguments("chunks too long together", chunked("1f4\r\n" + "a".repeat(500) + "\r\n1f5\r\n"), "413"),
        arguments("chunk extension without end", chunked("3;" + "a".repeat(9_000)), "400"),
        arguments("line feed in a chunk extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n"), "400"),
        arguments("chunk extension with an open quotation", withExtension(";a=\""), "400"),
        arguments("chunk extension with a quoted pair at its end", withExtension(";a=\"\\"), "400"),
        arguments("chunk extension with an escaped quotation mark", withExtension(";a=\"\\\""), "400"),
        arguments("chunk extension with text after its quotation", withExtension(";a=\"b\"c"), "400"),
        arguments("chunk extension without a name", withExtension(";"), "400"),
        arguments("chunk extension without a name, then another", withExtension(";;a"), "400"),
        arguments("chunk extension with a value alone", withExtension(";=b"), "400"),
        arguments("chunk extension without its value", withExtension(";a="), "400"),
        arguments("chunk extension with two values", withExtension(";a=b=c"), "400"),
        arguments("chunk extension with a quoted name", withExtension(";\"a\""), "400"),
        arguments("chunk extension with two words", withExtension(";a b"), "400"),
        arguments("chunk extension with a bad character", withExtension(";a=b,c"), "400"),
        arguments("chunk extension with a space at its end", withExtension(";a=b "), "400"),
        arguments("chunk extension of Latin-1", withExtension(";\u00e4"), "400"),
        arguments("value without an extension", withExtension("=b"), "400"),
        arguments("bad trailer", chunked("0\r\nX Y: b\r\n\r\n"), "400"),
        arguments("trailers without end", chunked("0\r\n" + "X: b\r\n".repeat(3_000)), "400"),
        arguments("space before the colon", "GET / HTTP/1.1\r\nHost: a\r\nX-A : b\r\n\r\n", "400"),
        arguments("no colon", "GET / HTTP/1.1\r\nHost: a\r\nX-A\r\n\r\n", "400"),
        arguments("no name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", "400"),
        arguments("NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\u0000A: b\r\n\r\n", "400"),
        arguments("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX-A: b\u0000c\r\n\r\n", "400"),
        arguments("folded header", "GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n", "400"),
        arguments("folded first header", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400"),
        arguments("bare CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX-A: b\rX-B: c\r\n\r\n", "400"),
        arguments("bare LF in a value", "GET / HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B: c\r\n\r\n", "400"),
        arguments("250 headers", headers + "\r\n", "431"),
        arguments("300 equal headers", "GET / HTTP/1.1\r\nHost: a\r\n" + "X-A: b\r\n".repeat(300) + "\r\n", "431"),
        arguments("header of 500 kB", "GET / HTTP/1.1\r\nHost: a\r\nX-A: " + "b".repeat(500_000) + "\r\n\r\n", "431"),
        arguments("first line of 500 kB", "GET /" + "b".repeat(500_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", "414"),
        arguments("method of 500 kB", "G".repeat(500_000) + " / HTTP/1.1\r\nHost: a\r\n\r\n", "501"),
        arguments("above the root", "GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("above the root, encoded", "GET /%2e%2E/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("encoded slash", "GET /%2e%2e%2fetc HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("encoded NUL", "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("encoded control character of Latin-1", "GET /a%c2%85b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("encoded line end", "GET /a%0d%0ab HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("backslash", "GET /..\\etc HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("encoded backslash", "GET /..%5cetc HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("path not UTF-8", "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("removed segment not UTF-8", "GET /a%ff/../b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("removed control character", "GET /a%00/../b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("overlong UTF-8 dot", "GET /%c0%ae%c0%ae/etc HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("raw byte in the path", "GET /\u00e4 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("space at the end of the first line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "400"),
        arguments("lower case version", "GET / http/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("another host in the target", "GET http://evil/x HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("user in the target", "GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("another scheme", "GET https://a/x HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("no path", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        arguments("no host in Host", "GET / HTTP/1.1\r\nHost: \r\n\r\n", "400"),
        arguments("a path in Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400"),
        arguments("GET *", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        arguments("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
        arguments("CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405"),
        arguments("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", "405"),
        arguments("another expectation", POST + "Expect: tea\r\n\r\n", "417"),
        arguments("two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"));
  }

  private static String chunked(String body) {
    return POST + "Transfer-Encoding: chunked\r\n\r\n" + body;
  }

  private static String withExtension(String extension) {
    return chunked("3" + extension + "\r\nabc\r\n0\r\n\r\n");
  }

  @Promise("27.1")
  @ParameterizedTest(name = "{0}")
  @MethodSource("malformedRequests")
  void malformedRequestIsRefusedAndReachesNoHandler(String name, String sent, String expected) throws IOException {
    var response = expected.equals("closed") ? responseAfterLimit(sent) : RawClient.sendAndReadAll(server.port(), sent);

    assertEquals(expected, RawClient.codes(response), response);
    assertEquals(List.of(), handledRequests);
    if (!response.isEmpty()) assertTrue(response.contains("\r\nConnection: close\r\n"), response);
  }

  /**
   * Sends the text and nothing more, and advances the clock until the limit for the client expires.
   * Returns the response of the server.
   */
  private String responseAfterLimit(String sent) {
    var response = Patience.callOnFiber(() -> RawClient.sendAndReadAll(server.port(), sent));
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return response.isDone();
    });
    return response.join();
  }

  static Stream<Arguments> validRequests() {
    return Stream.of(
        arguments("plain", RawClient.get("/"), "GET / "),
        arguments("an empty line before", "\r\n" + RawClient.get("/"), "GET / "),
        arguments("spaces round a value", "GET / HTTP/1.1\r\nHost: \t a \t\r\n" + END, "GET / "),
        arguments("dots", RawClient.get("/a/./b/../c"), "GET /a/c "),
        arguments("dots at the end", RawClient.get("/a/b/.."), "GET /a/ "),
        arguments("dots and a slash at the end", RawClient.get("/a/b/../"), "GET /a/ "),
        arguments("a dot at the end", RawClient.get("/a/."), "GET /a/ "),
        arguments("dots up to the root", RawClient.get("/a/.."), "GET / "),
        arguments("encoded dots", RawClient.get("/a/%2e%2E/c"), "GET /c "),
        arguments("encoded twice", RawClient.get("/%252e%252e/c"), "GET /%2e%2e/c "),
        arguments("slashes", RawClient.get("//evil///x/"), "GET /evil/x/ "),
        arguments("names that begin with dots", RawClient.get("/...a/.b"), "GET /...a/.b "),
        arguments("address of this host", "GET http://A:80/x?y HTTP/1.1\r\nHost: a\r\n" + END, "GET /x "),
        arguments("address without a path", "GET http://a?y HTTP/1.1\r\nHost: a\r\n" + END, "GET / "),
        arguments("IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n" + END, "GET / "),
        arguments("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "GET / "),
        arguments("a length", POST + "content-LENGTH: 003\r\n" + END + "abc", "POST / abc"),
        arguments("chunks",
            POST + "transfer-encoding: Chunked\r\n" + END + "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n",
            "POST / abc0123456789"),
        arguments("chunk extensions and trailers", POST + "Transfer-Encoding: chunked\r\n" + END
            + "3;a=\"b\"\r\nabc\r\n1 ;c\r\nd\r\n0;x\r\nX-T: 1\r\nX-U:\r\n\r\n", "POST / abcd"),
        arguments("chunk extensions as the grammar has them", POST + "Transfer-Encoding: chunked\r\n" + END
            + "1;a=b;c\r\na\r\n1\t;\ta\t=\tb ; c = \"\" ;d\r\nb\r\n1;a=\"\\\"\\\\;,\t \u00e4\";b\r\nc\r\n0\r\n\r\n",
            "POST / abc"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("validRequests")
  void handlerReadsValidRequest(String name, String sent, String expected) throws IOException {
    var response = RawClient.sendAndReadAll(server.port(), sent);

    assertEquals("200", RawClient.codes(response), response);
    assertEquals(List.of(expected), handledRequests);
  }

  static Stream<String> pipelined() {
    return Stream.of("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" + RawClient.get("/2"),
        POST.replace("/ ", "/1 ") + "Content-Length: 3\r\n\r\nabc" + RawClient.get("/2"),
        POST.replace("/ ", "/1 ") + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + RawClient.get("/2"));
  }

  @ParameterizedTest
  @MethodSource("pipelined")
  void pipelinedRequestsGetResponsesInOrder(String sent) throws IOException {
    var response = RawClient.sendAndReadAll(server.port(), sent);

    assertEquals("200 200", RawClient.codes(response), response);
    assertTrue(response.indexOf("/1 ") < response.indexOf("/2 "), response);
  }

  @ParameterizedTest
  @MethodSource("injections")
  void headerWithLineEndIsNeverSent(String path) throws IOException {
    var response = RawClient.sendAndReadAll(server.port(), RawClient.get(path));

    assertEquals("500", RawClient.codes(response));
    assertFalse(response.contains("Cookie"), response);
  }

  static Stream<String> injections() {
    return Stream.of("/inject");
  }
}
