package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests an HTTP server on every strategy. With CALLER, the server handles only one connection at a
 * time.
 */
class HttpContractTest {
  private final ActorScope scope = ActorSystem.openScope("http", o -> o);
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HttpServer server;

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private void open(String strategy, UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(scope.named("web").strategy(Variants.STRATEGIES.get(strategy)), 0,
        routes.apply(HttpRoutes.none()), o -> o);
  }

  private URI uri(String path) {
    return URI.create("http://localhost:" + server.port() + path);
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    client.close();
    scope.close();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void textResponseHasLengthTypeAndDate(String strategy) throws Exception {
    open(strategy,
        routes -> routes.text("/hello", exchange -> "Hällo " + exchange.queryParameter("name").orElse("World")));

    var response = get("/hello?x=1&name=A+%C3%A4%26&name=B");

    assertEquals(200, response.statusCode());
    assertEquals("Hällo A ä&", response.body());
    assertEquals("text/plain; charset=utf-8", response.headers().firstValue("content-type").orElseThrow());
    assertEquals("" + response.body().getBytes(StandardCharsets.UTF_8).length,
        response.headers().firstValue("content-length").orElseThrow());
    assertTrue(response.headers().firstValue("date").orElseThrow().endsWith(" GMT"));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerReadsBodyAndHeadersAndSetsStatusAndHeaders(String strategy) throws Exception {
    open(strategy,
        routes -> routes.text("/{any...}",
            exchange -> exchange.status(201).header("X-Back", exchange.header("x-OUT").orElseThrow()).method()
                + exchange.bodyAsText().toUpperCase(Locale.ROOT)));

    var sizedResponse =
        send(HttpRequest.newBuilder(uri("/a")).header("X-Out", "b").PUT(HttpRequest.BodyPublishers.ofString("sized")));
    var chunkedResponse = send(HttpRequest.newBuilder(uri("/a")).header("X-Out", "c")
        .POST(HttpRequest.BodyPublishers.fromPublisher(HttpRequest.BodyPublishers.ofString("chunks"))));

    assertEquals(List.of("PUTSIZED", "b", 201),
        List.of(sizedResponse.body(),
            sizedResponse.headers().firstValue("x-back").orElseThrow(), sizedResponse.statusCode()));
    assertEquals(List.of("POSTCHUNKS", "c"),
        List.of(chunkedResponse.body(), chunkedResponse.headers().firstValue("x-back").orElseThrow()));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void longResponseArrivesComplete(String strategy) throws Exception {
    open(strategy, routes -> routes.stream("/", exchange -> {
      var out = exchange.outputStream();
      for (int i = 0; i < 20_000; i++) out.write(Integer.toString(i).getBytes(StandardCharsets.US_ASCII));
    }));
    var expected = new StringBuilder();
    for (int i = 0; i < 20_000; i++) expected.append(i);

    var response = get("/");

    assertEquals(expected.toString(), response.body());
    assertEquals("chunked", response.headers().firstValue("transfer-encoding").orElseThrow());
  }

  @Promise("27.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void exceptionOfHandlerDeterminesResponseStatus(String strategy) throws Exception {
    var busyActor = scope.anonymous().strategy(Strategy.FIBER).mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return message;
        });
    Gate.occupy(busyActor);
    var stoppedActor = scope.anonymous().newActorWithReturn((String text) -> text);
    stoppedActor.close();
    open(strategy, routes -> routes
        .text("/full", exchange -> {
          busyActor.sendMessage("waits");
          return "" + busyActor.ask("one too many");
        })
        .text("/future", exchange -> "" + busyActor.sendMessageReturn("one too many").join())
        .text("/late", exchange -> {
          throw askTimeout();
        })
        .text("/stopped", exchange -> stoppedActor.ask("hello"))
        .text("/null", exchange -> null)
        .text("/broken", exchange -> {
          throw new IOException("the secret");
        })
        .text("/error", exchange -> { throw new AssertionError("the secret"); })
        .text("/deep", HttpContractTest::overflow)
        .text("/good", exchange -> "good"));
    try (var logged = new Logged()) {
      assertEquals("503 1", code("/full") + " " + get("/full").headers().firstValue("retry-after").orElse(""));
      assertEquals(503, code("/future"));
      assertEquals(503, code("/stopped"));
      for (var path : List.of("/null", "/broken", "/error", "/deep", "/late")) {
        var response = get(path);
        int status = path.equals("/late") ? 504 : 500;
        assertEquals(status, response.statusCode());
        assertFalse(response.body().contains("secret"), response.body());
        var number = response.body().strip().replaceAll(".* ", "");
        assertTrue(logged.text().contains("failure " + number + " of GET " + path + " was answered " + status),
            logged.text());
      }
      assertEquals("good", get("/good").body());
    }
  }

  /** An operator finds each failure in the log, but a full server does not log each refusal. */
  @Promise("27.2")
  @ParameterizedTest
  @CsvSource({"500, true", "502, true", "504, true", "503, false", "404, false"})
  void httpExceptionIsLoggedIfExchangeFailed(int status, boolean isLogged) throws Exception {
    open("FIBER", routes -> routes.text("/thrown", exchange -> {
      throw new HttpException(status, "the bank is closed");
    }));
    try (var logged = new Logged()) {
      var response = get("/thrown");

      assertEquals(status + " the bank is closed", response.statusCode() + " " + response.body().strip());
      assertEquals(isLogged, logged.text().contains(" of GET /thrown was answered " + status), logged.text());
    }
  }

  /** A rule changes the status, but not whether the exchange has failed. */
  @Promise("27.2")
  @Test
  void lateAnswerIsLoggedIfRuleMakesItFailure() throws Exception {
    open("FIBER", routes -> routes.text("/late", exchange -> {
      throw askTimeout();
    }).onFailure(AskTimeoutException.class, 502));
    try (var logged = new Logged()) {
      assertEquals(502, code("/late"));
      assertTrue(logged.text().contains(" of GET /late was answered 502"), logged.text());
    }
  }

  @Promise("27.2")
  @Test
  void equalFailuresAreLoggedWithOneStackPerSecond() throws Exception {
    open("FIBER", routes -> routes.text("/broken", exchange -> { throw new IOException("no disk"); }));
    long startNanos = System.nanoTime();
    try (var logged = new Logged()) {
      for (int i = 0; i < 10; i++) assertFailureIsLogged(logged);
      Patience.eventually(() -> { // repeats until two failures have occurred within one second
        assertFailureIsLogged(logged);
        return logged.text().contains("the same stack was logged within the last second: java.io.IOException: no disk");
      });

      var text = logged.text();
      long seconds = Duration.ofNanos(System.nanoTime() - startNanos).toSeconds();
      int stacks = text.split("\njava.io.IOException: no disk\n\tat ", -1).length - 1;
      assertTrue(stacks >= 1 && stacks <= seconds + 1, () -> stacks + " stacks in " + seconds + " s: " + text);
    }
  }

  /** The actor and the connection log the same exception, in either order. */
  @Promise("27.2")
  @Test
  void failureOfAskedActorIsLoggedWithOneStack() throws Exception {
    var actor = ActorSystem.named("asked").newActorWithReturn((String text) -> {
      throw new IllegalStateException("no luck");
    });
    open("FIBER", routes -> routes.text("/ask", exchange -> actor.ask("x") + ""));
    try {
      Patience.eventually(() -> { // on a slow machine, the second entry may come more than a second later
        try (var logged = new Logged()) {
          assertEquals(500, codeUnchecked("/ask"));
          Patience.eventually(() -> logged.text().contains("actor 'asked' failed at"));
          var text = logged.text();
          assertTrue(text.contains(" of GET /ask was answered 500"), text);
          return text.split("\njava.lang.IllegalStateException: no luck\n\tat ", -1).length == 2
              && (text.contains("; the entry of actor 'asked' has the stack: java.lang.IllegalStateException: no luck")
                  || text.matches("(?s).*actor 'asked' failed at \"x\"; it continues; the entry of failure [0-9a-f]{8} "
                      + "has the stack: java.lang.IllegalStateException: no luck.*"));
        }
      });
    } finally {
      actor.close();
    }
  }

  /** The library throws all time-outs at the same line. */
  @Promise("27.2")
  @Test
  void timeOutOfOtherLineIsLoggedWithStack() throws Exception {
    open("FIBER", routes -> routes.text("/late/{actor}", exchange -> {
      if (exchange.path("actor").equals("db")) throw askTimeout();
      throw askTimeout();
    }));
    assertStackIsLogged("/late/stock", "io.fibry.AskTimeoutException");
    assertStackIsLogged("/late/db", "io.fibry.AskTimeoutException");
  }

  /** A failure of another thread has no frame that tells the route. */
  @Promise("27.2")
  @Test
  void sameFailureOfOtherRouteIsLoggedWithStack() throws Exception {
    var failure = new IOException("no disk");
    open("FIBER", routes -> routes.text("/orders", exchange -> { throw failure; })
        .text("/stock", exchange -> {
          throw failure;
        }));
    assertStackIsLogged("/orders", "java.io.IOException");
    assertStackIsLogged("/stock", "java.io.IOException");
  }

  private void assertStackIsLogged(String path, String failure) throws Exception {
    try (var logged = new Logged()) {
      assertTrue(code(path) >= 500);
      var entry = Pattern.compile("of GET " + path + " was answered 50\\d\\R" + failure + ": .*\\R\tat ");
      assertTrue(entry.matcher(logged.text()).find(), logged.text());
    }
  }

  /** The end of the text says where the handler waits, which an operator needs most. */
  @Promise("27.2")
  @Test
  void repeatedTimeOutIsLoggedWithLineOfHandler() throws Exception {
    open("FIBER", routes -> routes.text("/late", exchange -> {
      throw askTimeout();
    }));
    var repeatedEntry = Pattern.compile("within the last second: io.fibry.AskTimeoutException: actor .*"
        + "\\. The handler is at java\\.base/java\\.lang\\.Thread\\.join\\(.*HttpContractTest");
    try (var logged = new Logged()) {
      Patience.eventually(() -> {
        assertEquals(504, codeUnchecked("/late"));
        return repeatedEntry.matcher(logged.text()).find();
      });
    }
  }

  private int codeUnchecked(String path) {
    try {
      return code(path);
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }

  private void assertFailureIsLogged(Logged logged) {
    try {
      var number = get("/broken").body().strip().replaceAll(".* ", "");
      assertTrue(logged.text().contains("failure " + number + " of GET /broken"), logged.text());
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }

  private int code(String path) throws Exception {
    return get(path).statusCode();
  }

  private AskTimeoutException askTimeout() {
    var endlessActor = scope.anonymous().strategy(Strategy.FIBER).newActorWithReturn((String text) -> {
      Thread.currentThread().join();
      return text;
    });
    try {
      endlessActor.ask("x", Duration.ofMillis(1));
      throw new AssertionError("answered");
    } catch (AskTimeoutException timeout) {
      endlessActor.kill();
      return timeout;
    }
  }

  private static String overflow(HttpExchange exchange) {
    return overflow(exchange) + 1;
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void exactRouteWinsOverRouteWithRestParameter(String strategy) throws Exception {
    open(strategy,
        routes -> routes.text("/a", exchange -> "short").text("/a/{rest...}", exchange -> "long " + exchange.path()));

    var bodies = Stream.of("/a", "/a/", "/a/c", "/a/b/c").map(path -> {
      try {
        return get(path).body();
      } catch (Exception failure) {
        throw new AssertionError(failure);
      }
    }).toList();

    assertEquals(List.of("short", "long /a/", "long /a/c", "long /a/b/c"), bodies);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void pathWithoutRouteGets404(String strategy) throws Exception {
    open(strategy, routes -> routes.text("/a", exchange -> "short").text("/a/{rest...}", exchange -> "long"));

    assertEquals(404, code("/ab"));
    assertEquals(404, code("/"));
  }

  @Promise("27.3")
  @ParameterizedTest
  @MethodSource("strategies")
  void exchangesOfConnectionAreHandledInOrder(String strategy) throws Exception {
    var paths = new CopyOnWriteArrayList<String>();
    open(strategy, routes -> routes.text("/{any...}", exchange -> {
      paths.add(exchange.path());
      return exchange.path();
    }));

    try (var rawClient = new RawClient(server.port())) {
      for (int i = 0; i < 20; i++) rawClient.send("GET /" + i + " HTTP/1.1\r\nHost: a\r\n\r\n");
      for (int i = 0; i < 20; i++) assertTrue(rawClient.readResponse().endsWith("\r\n\r\n/" + i));
    }

    assertEquals(IntStream.range(0, 20).mapToObj(i -> "/" + i).toList(), paths);
  }

  @Promise("27.8")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeEndsIdleConnections(String strategy) throws Exception {
    open(strategy, routes -> routes.text("/", exchange -> "x"));
    try (var rawClient = new RawClient(server.port())) {
      rawClient.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").readResponse();

      server.close();

      assertEquals("", rawClient.readToEnd());
      assertTrue(server.onExit().isDone());
      assertEquals("web", server.name());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void handlerMayAskActors(String strategy) throws Exception {
    Actor<String> log = scope.anonymous().newActor((String line) -> {});
    var shop = scope.anonymous().initialState(() -> new int[1])
        .newActorWithReturn((int[] orders, String item) -> item + ++orders[0]);
    open(strategy, routes -> routes.text("/order", exchange -> {
      log.sendMessage(exchange.bodyAsText());
      return shop.ask(exchange.bodyAsText(), Patience.LONG);
    }));

    assertEquals("milk1",
        send(HttpRequest.newBuilder(uri("/order")).POST(HttpRequest.BodyPublishers.ofString("milk"))).body());
    assertEquals("tea2",
        send(HttpRequest.newBuilder(uri("/order")).POST(HttpRequest.BodyPublishers.ofString("tea"))).body());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void responseArrivesAlthoughHandlerLeavesThreadInterrupted(String strategy) throws Exception {
    open(strategy, routes -> routes.text("/text", exchange -> {
      Thread.currentThread().interrupt();
      return "text";
    }).stream("/stream", exchange -> {
      exchange.outputStream().write('s');
      Thread.currentThread().interrupt();
    }));

    assertEquals("text", get("/text").body());
    assertEquals("s", get("/stream").body());
    assertEquals("text", get("/text").body());
  }
}
