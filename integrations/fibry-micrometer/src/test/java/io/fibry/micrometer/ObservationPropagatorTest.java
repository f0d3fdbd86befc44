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

/** Tests that a message is handled in the observation and the trace in which it was sent. */
class ObservationPropagatorTest {
  // @start region="propagator"
  private final ActorScope scope =
      ActorSystem.openScope("shop", options -> options.withContextPropagator(new ObservationPropagator()));
  // @end
  private final ObservationRegistry registry = ObservationRegistry.create();
  private final SimpleTracer tracer = new SimpleTracer();

  @AfterEach
  void close() {
    scope.close();
  }

  /** Adds a handler, because a registry without handlers observes nothing. */
  private void observe() {
    ObservationHandler<Observation.Context> handler = context -> true;
    registry.observationConfig().observationHandler(handler);
  }

  private Optional<Observation> current() {
    return Optional.ofNullable(registry.getCurrentObservation());
  }

  @Test
  void handlerSeesObservationOfSenderOnlyForItsMessage() {
    observe();
    var actor = scope.anonymous().newActorWithReturn((String message) -> current());
    var observation = Observation.createNotStarted("request", registry).start();

    observation.scoped(() -> assertSame(observation, actor.ask("what is observed?").orElseThrow()));

    assertEquals(Optional.empty(), actor.ask("and now?"));
  }

  @Test
  void observationFollowsChainOfTwoMessages() {
    observe();
    var last = scope.anonymous().newActorWithReturn((String message) -> current());
    var first = scope.anonymous().newActorWithReturn((String message) -> last.ask(message));
    var observation = Observation.createNotStarted("request", registry).start();

    observation.scoped(() -> assertSame(observation, first.ask("what is observed?").orElseThrow()));
  }

  @Test
  void handlerDoesNotSeeObservationOfItsThread() {
    observe();
    var otherObservation = Observation.createNotStarted("other", registry).start();
    var actor = scope.anonymous().strategy(Strategy.of(otherObservation::scoped))
        .newActorWithReturn((String message) -> current().equals(Optional.of(otherObservation)));

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
      var ids = first.ask("who?").split(" ");
      assertEquals(trace, ids[1]);
      assertEquals(ids[0], ids[2]);
      assertNotEquals(span().orElseThrow(), ids[2]);
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
