package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the events of a flight recording, and the fields of each event. */
class RecorderTest {
  record Count() implements Request<Count, Integer> {}
  record Text(String letters) {}

  private static final Duration LEASE = Duration.ofSeconds(5);

  private final List<RecordedEvent> events = new CopyOnWriteArrayList<>();
  private final MemoryNetwork network = MemoryNetwork.create();
  private final ActorScope scope = ActorSystem.openScope("recorder-test");
  private RecordingStream stream;
  private boolean stopped;

  @BeforeEach
  void record() {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.jfr").isPresent(), "this Java has no flight recorder");
    stream = new RecordingStream();
    stream.setReuse(false);
    for (var name : List.of("RemoteRequest", "RemotePressure", "PartitionMove", "Heartbeat", "LeaseLapse"))
      stream.enable("fibry." + name).withThreshold(Duration.ZERO);
    stream.onEvent(events::add);
    stream.startAsync();
  }

  @AfterEach
  void close() {
    if (stream != null) stream.close();
    scope.close();
  }

  private Cluster join(String node, ClusterNetwork nodeNetwork) {
    return Cluster.join("recorded", nodeNetwork, options -> options.withNode(node).withScope(scope).withPartitions(4)
        .withLease(TestNetwork.LEASE).withSettleTime(Duration.ofMillis(100)));
  }

  private RecordedEvent event(String name, Predicate<RecordedEvent> condition) {
    if (!stopped) {
      assertTrue(scope.awaitQuiescence(Patience.LONG)); // an actor records its answer after sending it
      stream.stop();
    }
    stopped = true;
    return events.stream().filter(e -> e.getEventType().getName().equals("fibry." + name)).filter(condition)
        .findFirst().orElseThrow(() -> new AssertionError("no " + name + " in " + events));
  }

  @Test
  void eventsOfAnsweredAndFailedRequestsHaveOutcomes() {
    try (var a = join("a", network); var b = join("b", network)) {
      a.expose("counter", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      assertEquals(7, b.actor("counter", Count.class).ask(new Count()));
      assertThrows(UnavailableException.class, () -> b.actor("other", Count.class).ask(new Count()));
    }

    var event = event("RemoteRequest", e -> e.getString("actor").equals("counter"));
    assertEquals("answered", event.getString("outcome"));
    assertEquals(Count.class.getName(), event.getClass("messageType").getName());
    assertEquals(1, event.getInt("attempts"));
    assertEquals(UnavailableException.class.getName(),
        event("RemoteRequest", e -> e.getString("actor").equals("other")).getString("outcome"));
  }

  @Test
  void senderBlockedByRemoteMailboxIsRecorded() throws Exception {
    var gate = new CountDownLatch(1);
    try (var a = join("a", network)) {
      var slow = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
          .newActor((Text text, ActorContext<Text> context) -> gate.await());
      a.expose("slow", Text.class, slow);
      var remoteActor = a.actor("slow", Text.class);
      var sending = new CompletableFuture<Void>();
      var sender = Patience.startFiber(() -> {
        for (int i = 0; i < 40; i++) remoteActor.sendMessage(new Text("x".repeat(60_000)));
        return null;
      }, sending);
      Patience.eventually(() -> sender.getState() == Thread.State.TIMED_WAITING);
      gate.countDown();
      Patience.value(sending);
    }

    var event = event("RemotePressure", e -> true);
    assertEquals("slow", event.getString("actor"));
    assertEquals("waited", event.getString("outcome"));
  }

  @Test
  void partitionMoveIsRecordedOnBothNodes() {
    try (var a = join("a", network)) {
      host(a);
      try (var b = join("b", network)) {
        host(b);
        Patience.eventually(() -> b.health().partitions().get("counter") > 0);
      }
    }

    event("PartitionMove", e -> e.getString("node").equals("a") && e.getString("outcome").equals("taken"));
    var transfer = event("PartitionMove", e -> e.getString("outcome").equals("given to b"));
    assertEquals("counter", transfer.getString("kind"));
    assertEquals("a", transfer.getString("node"));
    assertEquals("taken", event("PartitionMove", e -> e.getString("node").equals("b")
        && e.getInt("partition") == transfer.getInt("partition")).getString("outcome"));
  }

  private void host(Cluster node) {
    node.host("counter", Count.class, scope.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
  }

  @Test
  void heartbeatsAndLapseOfLeaseAreRecorded() {
    var clock = new ManualScheduler();
    var isCut = new AtomicBoolean();
    var clockedNetwork = MemoryNetwork.create(clock);
    try (var timedScope = ActorSystem.openScope("recorder-clock", options -> options.withScheduler(clock));
        var a = Cluster.join("recorded", (app, node) -> withFailingUpdates(clockedNetwork.connect(app, node), isCut),
            options -> options.withNode("a").withScope(timedScope).withPartitions(4).withLease(LEASE))) {
      a.host("counter", Count.class, timedScope.anonymous(), Duration.ofMinutes(1),
          (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
      String life = a.self().id();
      passHeartbeat(clock, timedScope);
      assertEquals(life, a.self().id());
      isCut.set(true);
      for (int i = 0; i < 4; i++) passHeartbeat(clock, timedScope);
      assertFalse(a.health().isAlive());
      isCut.set(false);
      for (int i = 0; i < 2; i++) passHeartbeat(clock, timedScope);
      assertTrue(a.health().isAlive());
      assertNotEquals(life, a.self().id());
    }

    assertEquals("confirmed", event("Heartbeat", e -> e.getString("node").equals("a")).getString("outcome"));
    assertEquals("made up", event("Heartbeat", e -> !e.getString("outcome").equals("confirmed")).getString("outcome"));
    assertEquals("its lease ran out before a heartbeat was confirmed",
        event("LeaseLapse", e -> true).getString("reason"));
    assertEquals("a", event("PartitionMove", e -> e.getString("outcome").equals("lost")).getString("node"));
  }

  /** Moves the clock from one heartbeat to the next. */
  private static void passHeartbeat(ManualScheduler clock, ActorScope scope) {
    clock.advance(LEASE.dividedBy(5));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  private static ClusterTransport withFailingUpdates(ClusterTransport transport, AtomicBoolean isCut) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("update") && isCut.get())
        throw new TransportException(Failure.DISCONNECTED, "made up");
      return call.pass();
    });
  }
}
