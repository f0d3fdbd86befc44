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
import java.time.Instant;
import java.util.List;
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

/** Events of a flight recording, each with its facts. */
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

  private Cluster join(String node, ClusterNetwork by) {
    return Cluster.join("recorded", by, options -> options.withNode(node).withScope(scope).withPartitions(4)
        .withLease(TestNetwork.LEASE).withSettleTime(Duration.ofMillis(100)));
  }

  private RecordedEvent event(String name, Predicate<RecordedEvent> which) {
    if (!stopped) {
      assertTrue(scope.awaitQuiescence(Patience.LONG)); // an actor records that it has answered after its asker knows
      stream.stop();
    }
    stopped = true;
    return events.stream().filter(one -> one.getEventType().getName().equals("fibry." + name)).filter(which).findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " in " + events));
  }

  @Test
  void requestEventRecordsItsOutcome() {
    try (var a = join("a", network); var b = join("b", network)) {
      a.expose("counter", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      assertEquals(7, b.actor("counter", Count.class).ask(new Count()));
      assertThrows(UnreachableException.class, () -> b.actor("other", Count.class).ask(new Count()));
    }

    var event = event("RemoteRequest", one -> one.getString("actor").equals("counter"));
    assertEquals("answered", event.getString("ended"));
    assertEquals(Count.class.getName(), event.getClass("messageType").getName());
    assertEquals(1, event.getInt("sent"));
    assertEquals(UnreachableException.class.getName(),
        event("RemoteRequest", one -> one.getString("actor").equals("other")).getString("ended"));
  }

  @Test
  void blockedSenderIsRecorded() throws Exception {
    var gate = new CountDownLatch(1);
    try (var a = join("a", network)) {
      var slow = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
          .newActor((Text text, ActorContext<Text> context) -> gate.await());
      a.expose("slow", Text.class, slow);
      var far = a.actor("slow", Text.class);
      var sender = Thread.startVirtualThread(() -> {
        for (int i = 0; i < 40; i++) far.sendMessage(new Text("x".repeat(60_000)));
      });
      Patience.eventually(() -> sender.getState() == Thread.State.TIMED_WAITING);
      gate.countDown();
      Patience.joined(sender);
    }

    var event = event("RemotePressure", one -> true);
    assertEquals("slow", event.getString("actor"));
    assertEquals("waited", event.getString("happened"));
  }

  @Test
  void movesAreRecordedOnBothNodes() {
    try (var a = join("a", network)) {
      host(a);
      try (var b = join("b", network)) {
        host(b);
        Patience.eventually(() -> b.health().partitions().get("counter") > 0);
      }
    }

    event("PartitionMove", one -> one.getString("node").equals("a") && one.getString("happened").equals("taken"));
    var given = event("PartitionMove", one -> one.getString("happened").equals("given to b"));
    assertEquals("counter", given.getString("kind"));
    assertEquals("a", given.getString("node"));
    assertEquals("taken", event("PartitionMove", one -> one.getString("node").equals("b")
        && one.getInt("partition") == given.getInt("partition")).getString("happened"));
  }

  private void host(Cluster node) {
    node.host("counter", Count.class, scope.anonymous(), Duration.ofMinutes(1),
        (how, key) -> how.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
  }

  @Test
  void heartbeatsAndLapseAreRecorded() {
    var clock = new ManualScheduler();
    var cut = new AtomicBoolean();
    var moved = MemoryNetwork.create(clock);
    try (var timed = ActorSystem.openScope("recorder-clock", options -> options.withScheduler(clock));
        var a = Cluster.join("recorded", (app, node) -> failing(moved.connect(app, node), cut),
            options -> options.withNode("a").withScope(timed).withPartitions(4).withLease(LEASE)
                .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())))) {
      a.host("counter", Count.class, timed.anonymous(), Duration.ofMinutes(1),
          (how, key) -> how.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
      String life = a.self().id();
      pass(clock, timed);
      assertEquals(life, a.self().id());
      cut.set(true);
      for (int i = 0; i < 4; i++) pass(clock, timed);
      assertFalse(a.health().isAlive());
      cut.set(false);
      for (int i = 0; i < 2; i++) pass(clock, timed);
      assertTrue(a.health().isAlive());
      assertNotEquals(life, a.self().id());
    }

    assertEquals("confirmed", event("Heartbeat", one -> one.getString("node").equals("a")).getString("ended"));
    assertEquals("made up", event("Heartbeat", one -> !one.getString("ended").equals("confirmed")).getString("ended"));
    assertEquals("its lease ran out before a heartbeat was confirmed",
        event("LeaseLapse", one -> true).getString("why"));
    assertEquals("a", event("PartitionMove", one -> one.getString("happened").equals("lost")).getString("node"));
  }

  /** Moves the clock from one heartbeat to the next. */
  private static void pass(ManualScheduler clock, ActorScope scope) {
    clock.advance(LEASE.dividedBy(5));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  private static ClusterTransport failing(ClusterTransport engine, AtomicBoolean cut) {
    return Intercepted.of(ClusterTransport.class, engine, (method, given, call) -> {
      if (method.getName().equals("update") && cut.get()) throw new TransportException(Failure.DISCONNECTED, "made up");
      return call.pass();
    });
  }
}
