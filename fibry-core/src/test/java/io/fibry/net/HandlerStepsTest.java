package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordingObserver;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that context propagators observe the exchanges of a server. */
class HandlerStepsTest {
  private final RecordingObserver observer = new RecordingObserver();
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private final List<AccessLogEntry> entries = new CopyOnWriteArrayList<>();
  private ServerScope net;
  private HttpServer server;

  @AfterEach
  void close() {
    net.close();
  }

  private void open(UnaryOperator<ActorScope.Options> options) {
    net = new ServerScope(options);
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("GET /orders/{id}", exchange -> {
      seen.add(String.valueOf(observer.current()));
      return "order";
    }).text("/broken", exchange -> {
      throw new IllegalStateException("no order");
    }).text("/missing", exchange -> {
      throw new HttpException(404, "none");
    }).text("/ruled", exchange -> {
      throw new NoSuchElementException("none");
    }).onFailure(NoSuchElementException.class, 404).stream("/torn", exchange -> {
      exchange.outputStream().write(1);
      exchange.outputStream().flush();
      throw new IllegalStateException("torn");
    }).webSocket("/socket", connection -> {
      seen.add(observer.calls.getLast());
      connection.texts().forEach(text -> {});
    }), o -> o.withAccessLog(entry -> {
      entries.add(entry);
      seen.add("log " + observer.current());
    }));
  }

  private void open() {
    open(options -> options.withContextPropagator(observer));
  }

  /** Sends requests on one connection, and waits until their steps are closed. */
  private void request(String... paths) throws IOException {
    int before = observer.calls.size();
    try (var client = new RawClient(server.port())) {
      for (var path : paths) {
        client.send("GET " + path + " HTTP/1.1\r\nHost: shop:81\r\nUser-Agent: test\r\nTraceparent: t\r\n\r\n");
        client.readResponse();
      }
      Patience.eventually(() -> observer.calls.size() == before + 3 * paths.length);
    }
  }

  @Promise("14.15")
  @Test
  void exchangesOfConnectionAreStepsOfTheirOwn() throws Exception {
    open();

    request("/orders/7", "/none", "/orders/8");

    assertEquals(List.of("begin EXCHANGE GET /orders/{id}", "ended 200", "close GET /orders/{id}",
        "begin EXCHANGE GET", "ended 404", "close GET",
        "begin EXCHANGE GET /orders/{id}", "ended 200", "close GET /orders/{id}"), observer.calls);
    assertEquals(List.of("GET /orders/{id}", "log GET /orders/{id}", "log GET", "GET /orders/{id}",
        "log GET /orders/{id}"), seen);
  }

  @Promise("14.15")
  @Test
  void stepOfExchangeDescribesRequest() throws Exception {
    open();

    request("/orders/7");

    var step = observer.steps.getFirst();
    assertEquals(Map.of("http.request.method", "GET", "url.path", "/orders/7", "url.scheme", "http", "http.route",
        "/orders/{id}", "server.address", "shop", "server.port", 81L, "user_agent.original", "test",
        "network.protocol.version", "1.1", "client.address", "127.0.0.1"),
        step.attributes());
    assertEquals("t", step.senderTexts().get("traceparent"));
    assertNull(step.senderTexts().get("tracestate"));
  }

  @Promise("14.16")
  @Test
  void stepHasFailureOnlyIfExchangeHasFailed() throws Exception {
    open();

    request("/broken", "/missing");
    request("/torn");

    assertEquals(List.of("ended 500 no order", "ended 404", "ended 200 torn"),
        observer.calls.stream().filter(call -> call.startsWith("ended")).toList());
  }

  @Promise("27.44")
  @Test
  void accessLogHasTraceAndNumberOfFailure() throws Exception {
    open();

    request("/broken", "/missing", "/ruled", "/none");

    assertEquals(
        List.of("trace of GET /broken", "trace of GET /missing", "trace of GET /ruled", "trace of GET"),
        entries.stream().map(entry -> entry.traceId().orElseThrow()).toList());
    assertEquals(List.of(true, false, false, false),
        entries.stream().map(it -> it.failureNumber().isPresent()).toList());
    assertTrue(AccessLogFormat.json().apply(entries.getFirst()).endsWith(
        "\"failureNumber\":\"" + entries.getFirst().failureNumber().get()
            + "\",\"traceId\":\"trace of GET /broken\"}"));
    assertEquals("400", RawClient.codes(RawClient.sendAndReadAll(server.port(), "GET\r\n\r\n")));
    assertEquals(Optional.empty(), entries.getLast().traceId());
  }

  @Promise("14.16")
  @Test
  void exchangeThatBecomesWebSocketEndsBeforeMessages() {
    open();
    try (var client = HttpClient.newHttpClient()) {
      var socket = Patience.value(client.newWebSocketBuilder().buildAsync(
          URI.create("ws://localhost:" + server.port() + "/socket"), new WebSocket.Listener() {}));
      Patience.eventually(() -> seen.size() == 2);
      assertEquals(List.of("log GET /socket", "ended 101"), seen);
      socket.abort();
    }
    Patience.eventually(() -> observer.calls.size() == 3);

    assertEquals("close GET /socket", observer.calls.getLast());
  }

  @Promise("14.15")
  @Test
  void malformedRequestIsNoStep() throws Exception {
    open();

    assertEquals("400", RawClient.codes(RawClient.sendAndReadAll(server.port(), "GET\r\n\r\n")));

    assertEquals(List.of(), observer.calls);
  }

  @Promise("14.17")
  @ParameterizedTest
  @ValueSource(strings = {"begin", "ended", "close", "traceId"})
  void brokenObserverAffectsNoExchange(String failingCall) throws Exception {
    var broken = new RecordingObserver(failingCall);
    var last = new RecordingObserver();
    open(options -> options.withContextPropagator(broken).withContextPropagator(observer).withContextPropagator(last));

    try (var log = new Logged(); var client = new RawClient(server.port())) {
      for (int i = 0; i < 2; i++) {
        client.send("GET /orders/7 HTTP/1.1\r\nHost: a\r\n\r\n");
        assertEquals("200", RawClient.codes(client.readResponse()));
      }
      Patience.eventually(() -> observer.calls.size() == 6);
      String verb = switch (failingCall) {
        case "ended" -> "end";
        case "traceId" -> "name the trace of";
        default -> failingCall;
      };
      assertTrue(log.text().contains("could not " + verb + " the EXCHANGE 'GET /orders/{id}'"), log::text);
    }

    assertEquals(observer.calls, last.calls);
    assertEquals(failingCall.equals("begin") ? 2 : 6, broken.calls.size());
    Patience.eventually(() -> net.scope.report().handled() == 2);
  }

  @Promise("14.17")
  @Test
  void noStepBeginsWithoutObserver() throws Exception {
    open(options -> options.withContextPropagator(ContextPropagator.mdc()));
    var step = new ContextPropagator.HandlerStep() {
      @Override
      public ContextPropagator.StepKind kind() {
        return ContextPropagator.StepKind.EXCHANGE;
      }

      @Override
      public String name() {
        return "GET";
      }

      @Override
      public Map<String, Object> attributes() {
        throw new AssertionError("no propagator needs the attributes");
      }

      @Override
      public Map<String, String> senderTexts() {
        throw new AssertionError("no propagator needs the texts");
      }
    };

    var withMdc = BlockBuilder.of(net.scope.anonymous());
    assertTrue(withMdc.hasPropagators());
    assertSame(ContextPropagator.StepObservation.NONE, withMdc.beginStep(step));
    try (var plain = new ServerScope()) {
      assertEquals(false, BlockBuilder.of(plain.scope.anonymous()).hasPropagators());
    }
  }

  @Promise("14.15")
  @Test
  void propagatorCountsFailedExchanges() throws Exception {
    // @start region="steps"
    class FailedExchanges implements ContextPropagator<Object> {
      final List<String> failed = new CopyOnWriteArrayList<>();

      @Override
      public Object capture() {
        return null; // this propagator carries no context
      }

      @Override
      public AutoCloseable restore(Object context) {
        return () -> {};
      }

      @Override
      public StepObservation beginStep(HandlerStep step) {
        if (step.kind() != StepKind.EXCHANGE) return StepObservation.NONE;
        return new StepObservation() {
          @Override
          public void ended(String outcome, Optional<Throwable> failure) {
            if (failure.isPresent()) failed.add(step.name() + " " + outcome);
          }

          @Override
          public void close() {} // no context was set
        };
      }
    }
    // @end
    var propagator = new FailedExchanges();
    open(options -> options.withContextPropagator(propagator).withContextPropagator(observer));

    request("/broken", "/orders/7");

    assertEquals(List.of("GET /broken 500"), propagator.failed);
  }
}
