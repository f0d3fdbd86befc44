package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the traces of messages within a process. */
class OpenTelemetryTracesTest {
  private final Telemetry telemetry = new Telemetry();
  private final ActorScope scope = ActorSystem.openScope("shop", options -> options
      .withContextPropagator(OpenTelemetryTraces.of(telemetry.api(), o -> o.withLocalSpans(actor -> true))));

  @AfterEach
  void close() {
    scope.close();
    telemetry.close();
  }

  private static String attribute(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringKey(name));
  }

  private Actor<String> failing(FailurePolicy policy) {
    return scope.named("failing").onFailure(policy.withoutLog()).newActor((String message) -> {
      throw new IllegalStateException("no " + message);
    });
  }

  @Test
  void chainOfThreeAsksIsOneTrace() {
    var stock = scope.named("stock").newActorWithReturn((String item) -> item + " found");
    var clerk = scope.named("clerk").newActorWithReturn((String item) -> stock.ask(item));
    var desk = scope.named("desk").newActorWithReturn((String item) -> clerk.ask(item));

    assertEquals("hat found", telemetry.inSpan("order", () -> desk.ask("hat")));

    var order = telemetry.span("order");
    var atDesk = telemetry.span("handle desk");
    var atClerk = telemetry.span("handle clerk");
    var atStock = telemetry.span("handle stock");
    assertEquals(List.of(order.getSpanId(), atDesk.getSpanId(), atClerk.getSpanId()),
        List.of(atDesk.getParentSpanId(), atClerk.getParentSpanId(), atStock.getParentSpanId()));
    assertEquals(Set.of(order.getTraceId()),
        telemetry.spans().stream().map(SpanData::getTraceId).collect(Collectors.toSet()));
  }

  @Test
  void spanFollowsSemanticConventions() {
    var desk = scope.named("desk").newActor((String item) -> {});

    telemetry.inSpan("order", () -> desk.sendMessage("hat"));

    var span = telemetry.span("handle desk");
    assertEquals(SpanKind.INTERNAL, span.getKind());
    assertEquals(StatusCode.UNSET, span.getStatus().getStatusCode());
    assertEquals(List.of("fibry", "handle", "process", "desk", "java.lang.String"),
        List.of(attribute(span, "messaging.system"), attribute(span, "messaging.operation.name"),
            attribute(span, "messaging.operation.type"), attribute(span, "messaging.destination.name"),
            attribute(span, "fibry.message.type")));
  }

  @Test
  void failureGivesErrorStatusAndException() {
    telemetry.inSpan("order", () -> failing(FailurePolicy.resume()).sendMessage("hat"));

    var span = telemetry.span("handle failing");
    assertEquals(StatusCode.ERROR, span.getStatus().getStatusCode());
    assertEquals("java.lang.IllegalStateException", attribute(span, "error.type"));
    assertEquals("no hat", span.getEvents().getFirst().getAttributes().get(
        AttributeKey.stringKey("exception.message")));
  }

  @Test
  void failureWithoutMessageGivesError() {
    var actor = scope.named("silent").onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      throw new IllegalStateException();
    });

    telemetry.inSpan("order", () -> actor.sendMessage("hat"));

    assertEquals(StatusCode.ERROR, telemetry.span("handle silent").getStatus().getStatusCode());
  }

  @Test
  void redeliveryIsSpanOfItsOwn() {
    var attempts = new AtomicInteger();
    var actor = scope.named("clerk").onFailure(FailurePolicy.resume().withoutLog().withRedelivery(1))
        .newActor((String message) -> {
          if (attempts.incrementAndGet() == 1) throw new IllegalStateException("at first");
        });

    telemetry.inSpan("order", () -> actor.sendMessage("hat"));

    Patience.eventually(() -> telemetry.spans("handle clerk").size() == 2);
    assertEquals(List.of(StatusCode.ERROR, StatusCode.UNSET),
        telemetry.spans("handle clerk").stream().map(span -> span.getStatus().getStatusCode()).toList());
  }

  @Test
  void noSpanBeginsWithoutTrace() {
    var actor = scope.named("clerk").newActorWithReturn((String item) -> Span.current().getSpanContext().isValid());

    assertFalse(actor.ask("hat"));
    scope.close();

    assertEquals(List.of(), telemetry.spans());
  }

  @Test
  void handlerRunsInSenderSpanByDefault() {
    try (var plainScope = ActorSystem.openScope("plain",
        options -> options.withContextPropagator(OpenTelemetryTraces.of(telemetry.api())))) {
      var actor = plainScope.named("clerk").newActorWithReturn((String item) -> Span.current().getSpanContext());

      telemetry.inSpan("order", () -> {
        assertEquals(Span.current().getSpanContext(), actor.ask("hat"));
        return "";
      });
      assertFalse(actor.ask("later").isValid());
    }
    assertEquals(List.of("order"), telemetry.spans().stream().map(SpanData::getName).toList());
  }

  @Test
  void onlyChosenActorsBeginLocalSpans() {
    var traces = OpenTelemetryTraces.of(telemetry.api(), o -> o.withLocalSpans(actor -> actor.name().equals("clerk")));
    try (var chosenScope = ActorSystem.openScope("chosen", options -> options.withContextPropagator(traces))) {
      var clerk = chosenScope.named("clerk").newActorWithReturn((String item) -> item);
      var desk = chosenScope.named("desk").newActorWithReturn((String item) -> clerk.ask(item));
      telemetry.inSpan("order", () -> desk.ask("hat"));
    }
    assertEquals(telemetry.span("order").getSpanId(), telemetry.span("handle clerk").getParentSpanId());
    assertEquals(List.of(), telemetry.spans("handle desk"));
  }

  @Test
  void namesOfEntitiesAndAnonymousActorsAreNotInSpanNames() {
    var entities = Entities.open(scope.named("account"), Duration.ofHours(1),
        (ActorBuilder<Object> builder, String key) -> builder.newActor((String message) -> {}));
    var anonymous = scope.anonymous().newActor((String message) -> {});

    telemetry.inSpan("order", () -> entities.actor("alice").sendMessage("hat") && anonymous.sendMessage("hat"));

    assertEquals("account/alice", attribute(telemetry.span("handle account"), "messaging.destination.name"));
    var span = telemetry.span("handle");
    assertEquals(anonymous.name(), attribute(span, "messaging.destination.name"));
    assertEquals(true, span.getAttributes().get(AttributeKey.booleanKey("messaging.destination.anonymous")));
  }

  @Test
  void lambdaHasNoMessageType() {
    var sink = scope.named("sink").initialState(() -> "state").newSink();

    telemetry.inSpan("order", () -> {
      sink.execAndWait(state -> {});
      return "";
    });

    assertNull(attribute(telemetry.span("handle sink"), "fibry.message.type"));
  }

  @Test
  void threadKeepsNoContextAfterHandling() {
    var caller = scope.named("caller").strategy(Strategy.CALLER).newActor((String message) -> {});

    telemetry.inSpan("order", () -> {
      var context = Context.current();
      caller.sendMessage("hat");
      assertSame(context, Context.current());
      return "";
    });

    assertSame(Context.root(), Context.current());
    assertEquals(telemetry.span("order").getSpanId(), telemetry.span("handle caller").getParentSpanId());
  }

  @Test
  void negativeTraceAgeIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> OpenTelemetryTraces.of(telemetry.api(), o -> o.withMaxTraceAge(Duration.ofSeconds(-1))));

    assertEquals("the max age of a trace is -1 s; zero is the lowest age", failure.getMessage());
  }
}
