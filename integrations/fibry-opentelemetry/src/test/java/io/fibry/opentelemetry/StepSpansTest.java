package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.store.MemoryStore;
import io.fibry.support.Patience;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the spans of exchanges, durable steps, commits and work of queues. */
class StepSpansTest {
  record Buy(String item) implements Request<Buy, String> {}

  record Who() implements Request<Who, String> {}

  /** An exchange, whose request has a trace. */
  private record ClientStep() implements HandlerStep {
    @Override
    public StepKind kind() {
      return StepKind.EXCHANGE;
    }

    @Override
    public String name() {
      return "GET /";
    }

    @Override
    public Map<String, Object> attributes() {
      return Map.of();
    }

    @Override
    public Map<String, String> senderTexts() {
      return Map.of("traceparent", traceparent("01"));
    }
  }

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "b7ad6b7169203331";

  private final Telemetry telemetry = new Telemetry();
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private ActorScope scope = ActorSystem.openScope("shop", o -> o.withContextPropagator(
      OpenTelemetryTraces.of(telemetry.api(), options -> options.withLocalSpans(actor -> true))));
  private HttpServer server;

  @AfterEach
  void close() {
    client.shutdownNow();
    scope.close();
    telemetry.close();
  }

  private void serve(HttpRoutes routes) {
    server = HttpServer.open(scope.anonymous(), 0, routes,
        o -> o.withAccessLog(entry -> seen.add("log " + Telemetry.currentTrace() + " " + entry.traceId().orElse(""))));
  }

  private HttpResponse<String> get(String path, String... headers) {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path));
    if (headers.length > 0) request.headers(headers);
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (IOException | InterruptedException failure) {
      throw new AssertionError(failure);
    }
  }

  private static String traceparent(String flags) {
    return "00-" + TRACE + "-" + PARENT + "-" + flags;
  }

  private static Object attribute(SpanData span, String name) {
    return span.getAttributes().asMap().entrySet().stream().filter(it -> it.getKey().getKey().equals(name))
        .map(it -> it.getValue()).findFirst().orElse(null);
  }

  private Set<String> traces() {
    return telemetry.spans().stream().map(SpanData::getTraceId).collect(Collectors.toSet());
  }

  private static final Durable<Buy> ORDERS =
      Durable.kind("order", Buy.class).storeMessages(9).state("").handler((items, buy, context) -> {
        String receipt = context.step("pay", String.class, () -> {
          if (buy.item().equals("coat")) throw new IllegalStateException("no money for a coat");
          return buy.item() + " paid";
        });
        context.reply(buy, receipt);
        return items + buy.item();
      });

  // ---- one trace

  @Test
  void exchangeMessageStepAndCommitAreOneTrace() {
    try (var store = MemoryStore.open();
        var orders = ORDERS.entities(scope.anonymous(), store, Duration.ofDays(1))) {
      serve(HttpRoutes.none().text("/orders/{id}",
          exchange -> orders.actor(exchange.path("id")).ask(new Buy("hat"))));

      assertEquals("hat paid", get("/orders/ada").body());

      var exchange = telemetry.span("GET /orders/{id}");
      var handled = telemetry.span("handle order");
      var step = telemetry.span("step pay");
      var commit = telemetry.span("commit");
      assertEquals(List.of(SpanId.getInvalid(), exchange.getSpanId(), handled.getSpanId(), handled.getSpanId()),
          List.of(exchange.getParentSpanId(), handled.getParentSpanId(), step.getParentSpanId(),
              commit.getParentSpanId()));
      assertEquals(Set.of(exchange.getTraceId()), traces());
      assertEquals(List.of(SpanKind.SERVER, SpanKind.INTERNAL, SpanKind.INTERNAL, SpanKind.INTERNAL),
          List.of(exchange.getKind(), handled.getKind(), step.getKind(), commit.getKind()));
      assertEquals(List.of("order", "ada", "stored"), List.of(attribute(step, "fibry.actor.kind"),
          attribute(step, "fibry.actor.key"), attribute(step, "fibry.outcome")));
      assertEquals("stored", attribute(commit, "fibry.outcome"));
    }
  }

  @Test
  void exchangeContinuesOnOtherNode() {
    var network = MemoryNetwork.create();
    var other = new Telemetry();
    try (other;
        var otherScope = ActorSystem.openScope("other",
            o -> o.withContextPropagator(OpenTelemetryTraces.of(other.api())));
        var first = Cluster.join("shop", network, o -> o.withNode("first").withScope(scope).withPartitions(4));
        var second = Cluster.join("shop", network, o -> o.withNode("second").withScope(otherScope).withPartitions(4))) {
      second.host("who", Who.class, otherScope.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
          .newActor((Who who, ActorContext<Who> context) -> context.reply(who, Telemetry.currentTrace())));
      var who = first.entities("who", Who.class).actor("k");
      serve(HttpRoutes.none().text("/who", exchange -> who.ask(new Who())));

      String trace = get("/who").body();

      var exchange = telemetry.span("GET /who");
      assertEquals(exchange.getTraceId(), trace);
      assertEquals(exchange.getSpanId(), other.span("handle who").getParentSpanId());
      server.close();
    }
  }

  @Test
  void traceOfClientContinues() {
    var clerk = scope.named("clerk").newActorWithReturn((String item) -> Telemetry.currentTrace());
    serve(HttpRoutes.none().text("GET /", exchange -> clerk.ask("hat")));

    assertEquals(TRACE, get("/", "traceparent", traceparent("01")).body());

    var exchange = telemetry.span("GET /");
    assertEquals(List.of(TRACE, PARENT), List.of(exchange.getTraceId(), exchange.getParentSpanId()));
    assertEquals(exchange.getSpanId(), telemetry.span("handle clerk").getParentSpanId());
    Patience.eventually(() -> seen.contains("log " + TRACE + " " + TRACE)); // the log comes after the response
  }

  @Test
  void malformedTraceOfClientIsIgnored() {
    serve(HttpRoutes.none().text("GET /", exchange -> Telemetry.currentTrace()));

    String trace = get("/", "traceparent", "00-x-y-01").body();

    assertEquals(telemetry.span("GET /").getTraceId(), trace);
    assertEquals(SpanId.getInvalid(), telemetry.span("GET /").getParentSpanId());
  }

  @Test
  void unsampledTraceOfClientPassesThroughWithoutSpans() {
    var clerk = scope.named("clerk").newActorWithReturn(
        (String item) -> Telemetry.currentTrace() + " " + Span.current().getSpanContext().isSampled());
    serve(HttpRoutes.none().text("GET /", exchange -> clerk.ask("hat")));

    assertEquals(TRACE + " false", get("/", "traceparent", traceparent("00")).body());
    scope.close();

    assertEquals(List.of(), telemetry.spans());
  }

  // ---- exchanges

  @Test
  void spanOfExchangeFollowsSemanticConventions() {
    serve(HttpRoutes.none().text("/orders/{id}", exchange -> "order"));

    get("/orders/7?secret=1", "User-Agent", "test");

    var span = telemetry.span("GET /orders/{id}");
    assertEquals(List.of("GET", "/orders/7", "http", "/orders/{id}", 200L, "localhost", (long) server.port(), "test"),
        List.of(attribute(span, "http.request.method"), attribute(span, "url.path"), attribute(span, "url.scheme"),
            attribute(span, "http.route"), attribute(span, "http.response.status_code"),
            attribute(span, "server.address"), attribute(span, "server.port"),
            attribute(span, "user_agent.original")));
    assertEquals(10, span.getAttributes().size()); // so the query is in no attribute
    assertEquals(StatusCode.UNSET, span.getStatus().getStatusCode());
  }

  @Test
  void spanWithoutRouteIsNamedByMethod() {
    serve(HttpRoutes.none());

    get("/orders/7");

    var span = telemetry.span("GET");
    assertNull(attribute(span, "http.route"));
    assertEquals(404L, attribute(span, "http.response.status_code"));
    assertEquals(StatusCode.UNSET, span.getStatus().getStatusCode());
    assertNull(attribute(span, "error.type"));
  }

  @Test
  void failedHandlerGivesErrorWithTextOnlyInEvent() {
    serve(HttpRoutes.none().text("/broken", exchange -> {
      throw new IllegalStateException("secret text");
    }));

    assertEquals(500, get("/broken").statusCode());

    var span = telemetry.span("GET /broken");
    assertEquals(StatusCode.ERROR, span.getStatus().getStatusCode());
    assertEquals("java.lang.IllegalStateException", attribute(span, "error.type"));
    assertEquals("secret text", span.getEvents().getFirst().getAttributes().get(
        AttributeKey.stringKey("exception.message")));
    assertFalse((span.getAttributes() + span.getStatus().getDescription()).contains("secret"));
  }

  @Test
  void onlyServerErrorsGiveErrorStatus() {
    serve(HttpRoutes.none().text("/missing", exchange -> {
      throw new HttpException(404, "none");
    }).text("/busy", exchange -> exchange.status(503).path()));

    get("/missing");
    get("/busy");

    var missing = telemetry.span("GET /missing");
    assertEquals(StatusCode.UNSET, missing.getStatus().getStatusCode());
    assertEquals(List.of(), missing.getEvents());
    var busy = telemetry.span("GET /busy");
    assertEquals(StatusCode.ERROR, busy.getStatus().getStatusCode());
    assertEquals("503", attribute(busy, "error.type"));
  }

  @Test
  void exceptionWhoseTextFailsStillEndsSpan() {
    var failure = new IllegalStateException() {
      @Override
      public String getMessage() {
        throw new IllegalStateException("no text");
      }
    };
    var traces = OpenTelemetryTraces.of(telemetry.api());
    try (var observation = traces.beginStep(new ClientStep())) {
      assertEquals(TRACE, Telemetry.currentTrace());
      assertThrows(IllegalStateException.class, () -> observation.ended("500", Optional.of(failure)));
    }

    assertSame(Context.root(), Context.current());
    assertEquals(StatusCode.ERROR, telemetry.span("GET /").getStatus().getStatusCode());
  }

  @Test
  void spanOfWebSocketEndsAtUpgrade() {
    serve(HttpRoutes.none().webSocket("/socket", connection -> connection.texts().forEach(text -> {})));

    var socket = Patience.value(client.newWebSocketBuilder().buildAsync(
        URI.create("ws://localhost:" + server.port() + "/socket"), new WebSocket.Listener() {}));

    var span = telemetry.span("GET /socket"); // the WebSocket is still open
    assertEquals(101L, attribute(span, "http.response.status_code"));
    assertEquals(1, server.stats().getFirst().openWebSockets());
    socket.abort();
  }

  @Test
  void exchangesOfConnectionShareNoContext() {
    serve(HttpRoutes.none().text("/leak", exchange -> {
      seen.add(Integer.toString(exchange.remoteAddress().getPort()));
      Context.current().with(Span.wrap(Span.current().getSpanContext())).makeCurrent(); // never closed
      return Telemetry.currentTrace();
    }).text("/next", exchange -> {
      seen.add(Integer.toString(exchange.remoteAddress().getPort()));
      return Telemetry.currentTrace();
    }));

    var traces =
        List.of(get("/leak").body(), get("/next").body(), get("/leak", "traceparent", traceparent("01")).body(),
            get("/none").statusCode() + "", get("/next").body());

    assertEquals(1, seen.stream().filter(text -> !text.startsWith("log")).distinct().count(), seen::toString);
    assertEquals(TRACE, traces.get(2));
    assertEquals(5, traces.stream().distinct().count());
    Patience.eventually(() -> telemetry.spans().size() == 5);
    assertEquals(4, telemetry.spans().stream().filter(it -> it.getParentSpanId().equals(SpanId.getInvalid())).count());
  }

  @Test
  void endOfStepRestoresContextDespiteLeakOfHandler() {
    var traces = OpenTelemetryTraces.of(telemetry.api());

    telemetry.inSpan("test", () -> {
      var before = Context.current();
      try (var observation = traces.beginStep(new ClientStep())) {
        assertEquals(TRACE, Telemetry.currentTrace());
        Context.root().makeCurrent(); // never closed
        observation.ended("200", Optional.empty());
      }
      assertSame(before, Context.current());
      return "";
    });
  }

  @Test
  void handlerHasNoTraceWithoutPropagator() {
    try (var plain = ActorSystem.openScope("plain")) {
      server = HttpServer.open(plain.anonymous(), 0,
          HttpRoutes.none().text("/", exchange -> "" + (Context.current() == Context.root())), o -> o);

      assertEquals("true", get("/", "traceparent", traceparent("01")).body());
    }
    assertEquals(List.of(), telemetry.spans());
  }

  @Test
  void onlyChosenStepsBeginSpans() {
    var openTelemetry = telemetry.api();
    // @start region="steps"
    var traces = OpenTelemetryTraces.of(openTelemetry,
        options -> options.withSteps(step -> !step.name().equals("GET /health")));
    // @end
    scope.close();
    scope = ActorSystem.openScope("chosen", o -> o.withContextPropagator(traces));
    serve(HttpRoutes.none().text("/health", exchange -> Telemetry.currentTrace()).text("/", exchange -> ""));

    assertEquals("0".repeat(32), get("/health").body());
    get("/");

    assertEquals("GET /", telemetry.span("GET /").getName());
    assertEquals(1, telemetry.spans().size());
  }

  // ---- durable actors and queues

  @Test
  void failedStepGivesError() {
    try (var store = MemoryStore.open();
        var orders = ORDERS.entities(scope.anonymous(), store, Duration.ofDays(1))) {
      telemetry.inSpan("order", () -> orders.actor("ada").sendMessageReturn(new Buy("coat"))
          .handle((receipt, failure) -> failure != null).join());

      var step = telemetry.span("step pay");
      assertEquals(StatusCode.ERROR, step.getStatus().getStatusCode());
      assertEquals("java.lang.IllegalStateException", attribute(step, "error.type"));
      assertEquals("failed", attribute(step, "fibry.outcome"));
    }
  }

  @Test
  void stepOutsideOfTraceBeginsNoSpan() {
    try (var store = MemoryStore.open();
        var orders = ORDERS.entities(scope.anonymous(), store, Duration.ofDays(1))) {
      assertEquals("hat paid", orders.actor("ada").ask(new Buy("hat")));
    }
    assertEquals(List.of(), telemetry.spans());
  }

  @Test
  void eachAttemptAtWorkIsTraceOfItsOwn() {
    var clerk = scope.named("clerk").newActorWithReturn((String item) -> Telemetry.currentTrace());
    try (var node = Cluster.join("shop", MemoryNetwork.create(), o -> o.withScope(scope))) {
      var mails = node.queue("mails", String.class);
      mails.consume(o -> o.withMaxAttempts(2).withBackoff(Duration.ofMillis(1), Duration.ofMillis(1)), mail -> {
        seen.add(clerk.ask("hat"));
        if (seen.size() == 1) throw new IllegalStateException("at first");
      });
      telemetry.inSpan("order", () -> {
        mails.put("hat");
        return "";
      });

      Patience.eventually(() -> telemetry.spans("handle mails").size() == 2);
    }
    var attempts = telemetry.spans("handle mails");
    assertEquals(seen, attempts.stream().map(SpanData::getTraceId).toList());
    assertNotEquals(seen.getFirst(), seen.getLast());
    assertEquals(List.of(SpanKind.CONSUMER, StatusCode.ERROR, "retried", 1L, "fibry", "process"),
        List.of(attempts.getFirst().getKind(), attempts.getFirst().getStatus().getStatusCode(),
            attribute(attempts.getFirst(), "fibry.outcome"), attribute(attempts.getFirst(), "fibry.work.attempt"),
            attribute(attempts.getFirst(), "messaging.system"),
            attribute(attempts.getFirst(), "messaging.operation.type")));
    assertEquals("done", attribute(attempts.getLast(), "fibry.outcome"));
    assertEquals(List.of(attempts.getFirst().getSpanId(), attempts.getLast().getSpanId()),
        telemetry.spans("handle clerk").stream().map(SpanData::getParentSpanId).toList());
  }
}
