package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.opentelemetry.OpenTelemetryTraces.Options;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a message from another node or from a store belongs to its sender's trace. */
class RemoteTracesTest {
  record Who() implements Request<Who, String> {}

  record Order(String item) {}

  /** A program, with telemetry of its own. */
  private static final class Program implements AutoCloseable {
    final Telemetry telemetry = new Telemetry();
    final ActorScope scope;

    Program(UnaryOperator<Options> options) {
      this.scope = ActorSystem.openScope("shop",
          scopeOptions -> scopeOptions.withContextPropagator(OpenTelemetryTraces.of(telemetry.api(), options)));
    }

    Cluster join(MemoryNetwork network, String node) {
      return Cluster.join("shop", network,
          options -> options.withNode(node).withScope(scope).withPartitions(4).withLease(Duration.ofMinutes(1)));
    }

    List<SpanData> receivedSpans() {
      return telemetry.spans().stream().filter(span -> span.getKind() == SpanKind.CONSUMER).toList();
    }

    SpanData receivedSpan() {
      Patience.eventually(() -> !receivedSpans().isEmpty());
      assertEquals(1, receivedSpans().size());
      return receivedSpans().getFirst();
    }

    @Override
    public void close() {
      scope.close();
      telemetry.close();
    }
  }

  private final Program sender = new Program(options -> options);
  private final Program receiver = new Program(options -> options);
  private final Program alwaysLinking = new Program(options -> options.withMaxTraceAge(Duration.ZERO));

  @TempDir
  Path folder;

  @AfterEach
  void close() {
    sender.close();
    receiver.close();
    alwaysLinking.close();
  }

  private static void hostWho(Cluster node, Program program) {
    var policy = FailurePolicy.resume().withoutLog();
    node.host("who", Who.class, program.scope.anonymous().onFailure(policy), Duration.ofMinutes(5),
        (builder, key) -> builder.newActor((Who who, ActorContext<Who> context) -> {
          if (key.equals("broken")) throw new IllegalStateException("on purpose");
          context.reply(who, Telemetry.currentTrace());
        }));
  }

  @Test
  void handlingOnOtherNodeIsChildOfAskersSpan() {
    var network = MemoryNetwork.create();
    try (var first = sender.join(network, "first"); var second = receiver.join(network, "second")) {
      hostWho(second, receiver);
      var who = first.entities("who", Who.class).actor("k");

      String trace = sender.telemetry.inSpan("order", () -> who.ask(new Who()));

      var order = sender.telemetry.span("order");
      assertEquals(order.getTraceId(), trace);
      var handled = receiver.receivedSpan();
      assertEquals(List.of(order.getTraceId(), order.getSpanId()),
          List.of(handled.getTraceId(), handled.getParentSpanId()));
      assertEquals(List.of(), handled.getLinks());
      assertEquals(0, receiver.telemetry.spans().stream().filter(span -> span.getKind() != SpanKind.CONSUMER).count());

      assertEquals(TraceId.getInvalid(), who.ask(new Who())); // outside of a trace
      assertEquals(1, receiver.receivedSpans().size());
    }
  }

  @Test
  void failureOnOtherNodeGivesError() {
    var network = MemoryNetwork.create();
    try (var first = sender.join(network, "first"); var second = receiver.join(network, "second")) {
      hostWho(second, receiver);
      var who = first.entities("who", Who.class).actor("broken");

      boolean failed = sender.telemetry.inSpan("order", () -> who.sendMessageReturn(new Who())
          .handle((answer, failure) -> failure != null).join());

      assertEquals(true, failed);
      assertEquals(StatusCode.ERROR, receiver.receivedSpan().getStatus().getStatusCode());
    }
  }

  private static final ConcurrentLinkedQueue<String> TRACES = new ConcurrentLinkedQueue<>();

  private final Durable<Order> orders =
      Durable.kind("order", Order.class).storeMessages(9).state(0).handler((n, order, context) -> {
        TRACES.add(Telemetry.currentTrace());
        return n + 1;
      });
  private final Durable<Order> desks = Durable.kind("desk", Order.class).state(0).handler((n, order, context) -> {
    context.sendMessage(orders, "o", order);
    return n + 1;
  });

  /** Stores a message in a span, closes the store, and handles the message in another program. */
  private void storeAndHandle(Program handling) {
    TRACES.clear();
    try (var store = FolderStore.open(folder); var desk = desks.newActor(sender.scope.named("desk"), store)) {
      sender.telemetry.inSpan("order", () -> desk.sendMessage(new Order("hat")));
      desk.sendPoisonPill();
      Patience.awaitEnd(desk::waitForExit); // the turn is stored when the actor has ended
    }
    try (var store = FolderStore.open(folder); var orderActor = orders.newActor(handling.scope.named("o"), store)) {
      Patience.eventually(() -> !TRACES.isEmpty());
      assertFalse(orderActor.onExit().isDone());
    }
  }

  @Test
  void storedMessageBelongsToSenderTraceAfterReopening() {
    storeAndHandle(receiver);

    var order = sender.telemetry.span("order");
    var handled = receiver.receivedSpan();
    assertEquals("handle o", handled.getName());
    assertEquals(List.of(order.getTraceId(), order.getSpanId()),
        List.of(handled.getTraceId(), handled.getParentSpanId()));
    assertEquals(order.getTraceId(), TRACES.poll());
  }

  @Test
  void tooOldMessageBeginsTraceWithLink() {
    storeAndHandle(alwaysLinking);

    var order = sender.telemetry.span("order");
    var handled = alwaysLinking.receivedSpan();
    assertNotEquals(order.getTraceId(), handled.getTraceId());
    assertEquals(SpanId.getInvalid(), handled.getParentSpanId());
    assertEquals(order.getSpanId(), handled.getLinks().getFirst().getSpanContext().getSpanId());
    assertEquals(handled.getTraceId(), TRACES.poll());
  }
}
