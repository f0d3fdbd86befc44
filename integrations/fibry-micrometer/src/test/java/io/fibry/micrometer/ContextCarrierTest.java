package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A message is handled in the observation, and so in the trace, in which it was sent. */
class ContextCarrierTest {
  // @start region="carrier"
  private final ActorScope scope =
      ActorSystem.openScope("shop", options -> options.withContextPropagator(new ObservationPropagator()));
  // @end
  private final ObservationRegistry registry = ObservationRegistry.create();
  private final SimpleTracer tracer = new SimpleTracer();

  @AfterEach
  void close() {
    scope.close();
  }

  /** Without a handler a registry observes nothing. */
  private void observe() {
    ObservationHandler<Observation.Context> all = context -> true;
    registry.observationConfig().observationHandler(all);
  }

  private Optional<Observation> current() {
    return Optional.ofNullable(registry.getCurrentObservation());
  }

  @Test
  void observationCrossesAMessage() {
    observe();
    var actor = scope.anonymous().newActorWithReturn((String message) -> current());
    var observation = Observation.createNotStarted("request", registry).start();

    observation.scoped(() -> assertSame(observation, actor.ask("what is observed?").orElseThrow()));

    assertEquals(Optional.empty(), actor.ask("and now?"));
  }

  @Test
  void observationCrossesTwoMessages() {
    observe();
    var last = scope.anonymous().newActorWithReturn((String message) -> current());
    var first = scope.anonymous().newActorWithReturn((String message) -> last.ask(message));
    var observation = Observation.createNotStarted("request", registry).start();

    observation.scoped(() -> assertSame(observation, first.ask("what is observed?").orElseThrow()));
  }

  @Test
  void theObservationOfTheHandlersThreadIsNotSeen() {
    observe();
    var other = Observation.createNotStarted("other", registry).start();
    var actor = scope.anonymous().strategy(Strategy.of(other::scoped))
        .newActorWithReturn((String message) -> current().equals(Optional.of(other)));

    assertFalse(actor.ask("is it seen?"));
  }

  @Test
  void spansInHandlerBelongToSenderTrace() {
    registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
    var last = scope.anonymous().newActorWithReturn(
        (String message) -> Observation.createNotStarted("last", registry).observe(this::traceAndParent));
    var first = scope.anonymous().newActorWithReturn((String message) -> Observation.createNotStarted("first", registry)
        .observe(() -> span().orElseThrow() + " " + last.ask(message)));

    Observation.createNotStarted("request", registry).observe(() -> {
      var trace = tracer.currentSpan().context().traceId();
      var seen = first.ask("who?").split(" ");
      assertEquals(trace, seen[1]);
      assertEquals(seen[0], seen[2]);
      assertNotEquals(span().orElseThrow(), seen[2]);
    });

    assertEquals(Optional.empty(), scope.anonymous().newActorWithReturn((String message) -> span()).ask("and now?"));
  }

  private Optional<String> span() {
    return Optional.ofNullable(tracer.currentSpan()).map(span -> span.context().spanId());
  }

  private String traceAndParent() {
    var span = tracer.currentSpan().context();
    return span.traceId() + " " + span.parentId();
  }
}
