package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.ActorScope;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The trace travels with the observation: a handler's spans belong to the sender's trace. */
@Timeout(60)
class TraceTest {
  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryContextAutoConfiguration.class));
  private final SimpleTracer tracer = new SimpleTracer();
  private final ObservationRegistry registry = ObservationRegistry.create();

  TraceTest() {
    registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
  }

  private Optional<String> span() {
    return Optional.ofNullable(tracer.currentSpan()).map(span -> span.context().spanId());
  }

  @Test
  void spansOfAHandlerBelongToTheTraceOfTheSender() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      var last = scope.anonymous().newActorWithReturn(
          (String message) -> Observation.createNotStarted("last", registry).observe(this::traceAndParent));
      var first = scope.anonymous().newActorWithReturn((String message) -> Observation
          .createNotStarted("first", registry).observe(() -> span().orElseThrow() + " " + last.ask(message)));

      Observation.createNotStarted("request", registry).observe(() -> {
        var trace = tracer.currentSpan().context().traceId();
        var seen = first.ask("who?").split(" ");
        assertEquals(trace, seen[1]);
        assertEquals(seen[0], seen[2]);
        assertNotEquals(span().orElseThrow(), seen[2]);
      });

      assertEquals(Optional.empty(), scope.anonymous().newActorWithReturn((String message) -> span()).ask("and now?"));
    });
  }

  private String traceAndParent() {
    var span = tracer.currentSpan().context();
    return span.traceId() + " " + span.parentId();
  }
}
