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

/** Tests that a message is handled in the trace in which it was sent, on any node. */
class TracePropagatorTest {
  record Who() implements Request<Who, String> {}

  /** A program, with a tracer of its own. */
  private static final class Program implements AutoCloseable {
    final SimpleTracer tracer = new SimpleTracer();
    final ObservationRegistry registry = ObservationRegistry.create();
    final W3cPropagator propagator = new W3cPropagator(tracer);
    // @start region="propagator"
    final ActorScope scope = ActorSystem.openScope("shop", options -> options
        .withContextPropagator(new ObservationPropagator())
        .withContextPropagator(new TracePropagator(tracer, propagator)));
    // @end

    Program() {
      registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
    }

    Cluster join(MemoryNetwork network, String node) {
      return Cluster.join("shop", network,
          options -> options.withNode(node).withScope(scope).withPartitions(4).withLease(Duration.ofMinutes(1)));
    }

    Optional<Span> span() {
      return Optional.ofNullable(tracer.currentSpan());
    }

    /** Begins a span. Returns the ids of its trace and of its parent. */
    String traceAndParent() {
      return Observation.createNotStarted("handled", registry).observe(
          () -> tracer.currentSpan().context().traceId() + " " + tracer.currentSpan().context().parentId());
    }

    @Override
    public void close() {
      scope.close();
    }
  }

  private final Program program = new Program();
  private final Program otherProgram = new Program();

  @AfterEach
  void close() {
    program.close();
    otherProgram.close();
  }

  private void runInTrace(Runnable code) {
    Observation.createNotStarted("request", program.registry).observe(code);
  }

  private String trace() {
    return program.span().orElseThrow().context().traceId();
  }

  @Test
  void remoteEntitySpanBelongsToAskerTrace() {
    var network = MemoryNetwork.create();
    try (var first = program.join(network, "first"); var second = otherProgram.join(network, "second")) {
      second.host("who", Who.class, otherProgram.scope.anonymous(), Duration.ofMinutes(5),
          (builder, key) -> builder.newActor(
              (Who who, ActorContext<Who> context) -> context.reply(who, otherProgram.traceAndParent())));
      var who = first.entities("who", Who.class).actor("k");

      runInTrace(() -> {
        var ids = who.ask(new Who()).split(" ");
        assertEquals(trace(), ids[0]);
        var receiveSpan = otherProgram.tracer.getSpans().stream().filter(span -> span.getName().equals("receive"))
            .findFirst();
        assertEquals(receiveSpan.orElseThrow().getSpanId(), ids[1]);
        assertEquals(program.span().orElseThrow().context().spanId(), receiveSpan.get().getParentId());
        assertEquals(Span.Kind.CONSUMER, receiveSpan.get().getKind());
        // the span ends with the handler, perhaps a moment after the reply
        Patience.eventually(() -> receiveSpan.get().getEndTimestamp().toEpochMilli() > 0);
      });

      var laterIds = who.ask(new Who()).split(" ");
      assertTrue(program.tracer.getSpans().stream().noneMatch(span -> span.getTraceId().equals(laterIds[0])));
      assertEquals(1, otherProgram.tracer.getSpans().stream().filter(span -> span.getName().equals("receive")).count());
    }
  }

  @Test
  void localSpanHasSenderSpanAsParent() {
    var actor = program.scope.anonymous().newActorWithReturn((String message) -> program.traceAndParent());

    runInTrace(() -> {
      var ids = actor.ask("who?").split(" ");
      assertEquals(trace(), ids[0]);
      assertEquals(program.span().orElseThrow().context().spanId(), ids[1]);
    });

    assertEquals(Optional.empty(),
        program.scope.anonymous().newActorWithReturn((String message) -> program.span()).ask("and now?"));
  }

  @Test
  void traceIsPropagatedWithoutObservations() {
    var actor = program.scope.anonymous().newActorWithReturn((String message) -> trace());
    var span = program.tracer.nextSpan().start();

    try (var scope = program.tracer.withSpan(span)) {
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
    var order = Durable.kind("order", Order.class).storeMessages(9).state(0).handler((n, message, context) -> {
      TRACES.add(otherProgram.traceAndParent().split(" ")[0]);
      return n + 1;
    });
    var first = Durable.kind("first", Order.class).state(0).handler((n, message, context) -> {
      context.sendMessage(order, "o", message);
      return n + 1;
    });
    try (var store = MemoryStore.open(); var sender = first.newActor(program.scope.named("f"), store)) {
      runInTrace(() -> {
        sender.sendMessage(new Order());
        sender.sendPoisonPill();
        Patience.awaitEnd(sender::waitForExit); // the turn is stored when the actor has ended
        var actor = order.newActor(otherProgram.scope.named("o"), store);
        Patience.eventually(() -> !TRACES.isEmpty());
        assertEquals(trace(), TRACES.poll());
        actor.close();
      });
    }
  }
}
