package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.support.Patience;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A message is handled in the trace in which it was sent, on whichever node. */
class TraceCarrierTest {
  record Who() implements Request<Who, String> {}

  /** A program, with a tracer of its own. */
  private static final class Place implements AutoCloseable {
    final SimpleTracer tracer = new SimpleTracer();
    final ObservationRegistry registry = ObservationRegistry.create();
    final W3c propagator = new W3c(tracer);
    // @start region="carrier"
    final ActorScope scope = ActorSystem.openScope("shop", options -> options
        .withContextPropagator(new ObservationPropagator())
        .withContextPropagator(new TracePropagator(tracer, propagator)));
    // @end

    Place() {
      registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
    }

    Cluster join(MemoryNetwork network, String node) {
      return Cluster.join("shop", network,
          options -> options.withNode(node).withScope(scope).withPartitions(4).withLease(Duration.ofMinutes(1)));
    }

    Optional<Span> span() {
      return Optional.ofNullable(tracer.currentSpan());
    }

    /** The trace and the parent of a span that a handler begins. */
    String traceAndParent() {
      return Observation.createNotStarted("handled", registry).observe(
          () -> tracer.currentSpan().context().traceId() + " " + tracer.currentSpan().context().parentId());
    }

    @Override
    public void close() {
      scope.close();
    }
  }

  private final Place here = new Place();
  private final Place there = new Place();

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  private void inATrace(Runnable code) {
    Observation.createNotStarted("request", here.registry).observe(code);
  }

  private String trace() {
    return here.span().orElseThrow().context().traceId();
  }

  @Test
  void remoteEntitySpanBelongsToAskerTrace() {
    var network = MemoryNetwork.create();
    try (var first = here.join(network, "first"); var second = there.join(network, "second")) {
      second.host("who", Who.class, there.scope.anonymous(), Duration.ofMinutes(5),
          (how, key) -> how.newActor(
              (Who who, ActorContext<Who> context) -> context.reply(who, there.traceAndParent())));
      var who = first.entities("who", Who.class).actor("k");

      inATrace(() -> {
        var seen = who.ask(new Who()).split(" ");
        assertEquals(trace(), seen[0]);
        var received = there.tracer.getSpans().stream().filter(span -> span.getName().equals("receive")).findFirst();
        assertEquals(received.orElseThrow().getSpanId(), seen[1]);
        assertEquals(here.span().orElseThrow().context().spanId(), received.get().getParentId());
        assertEquals(Span.Kind.CONSUMER, received.get().getKind());
        // it ends after the handler, which may be a moment after the reply
        Patience.eventually(() -> received.get().getEndTimestamp().toEpochMilli() > 0);
      });

      var later = who.ask(new Who()).split(" ");
      assertTrue(here.tracer.getSpans().stream().noneMatch(span -> span.getTraceId().equals(later[0])));
      assertEquals(1, there.tracer.getSpans().stream().filter(span -> span.getName().equals("receive")).count());
    }
  }

  @Test
  void localSpanHasSenderSpanAsParent() {
    var actor = here.scope.anonymous().newActorWithReturn((String message) -> here.traceAndParent());

    inATrace(() -> {
      var seen = actor.ask("who?").split(" ");
      assertEquals(trace(), seen[0]);
      assertEquals(here.span().orElseThrow().context().spanId(), seen[1]);
    });

    assertEquals(Optional.empty(),
        here.scope.anonymous().newActorWithReturn((String message) -> here.span()).ask("and now?"));
  }

  @Test
  void traceIsPropagatedWithoutObservations() {
    var actor = here.scope.anonymous().newActorWithReturn((String message) -> trace());
    var span = here.tracer.nextSpan().start();

    try (var scope = here.tracer.withSpan(span)) {
      assertNotEquals(null, scope);
      assertEquals(span.context().traceId(), actor.ask("who?"));
    } finally {
      span.end();
    }
  }

  private static final ConcurrentLinkedQueue<String> TRACES = new ConcurrentLinkedQueue<>();

  record Order() {}

  @Test
  void storedMessageBelongsToSenderTrace() {
    var order = Durable.kind("order", Order.class).storeMessages(9).state(0).handler((n, one, context) -> {
      TRACES.add(there.traceAndParent().split(" ")[0]);
      return n + 1;
    });
    var first = Durable.kind("first", Order.class).state(0).handler((n, one, context) -> {
      context.sendMessage(order, "o", one);
      return n + 1;
    });
    try (var store = MemoryStore.open(); var sender = first.newActor(here.scope.named("f"), store)) {
      inATrace(() -> {
        sender.sendMessage(new Order());
        sender.sendPoisonPill();
        Patience.ended(sender::waitForExit); // its turn is stored
        var actor = order.newActor(there.scope.named("o"), store);
        Patience.eventually(() -> !TRACES.isEmpty());
        assertEquals(trace(), TRACES.poll());
        actor.close();
      });
    }
  }
}
