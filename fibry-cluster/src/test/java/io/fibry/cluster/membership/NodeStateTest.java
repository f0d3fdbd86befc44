package io.fibry.cluster.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.support.Intercepted;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests the forms of a node's entry, and how long the lease of a life may be valid. */
class NodeStateTest {
  /** The entry of a node in its former form, without the end and the lease of a life. */
  interface FormerVersion {
    record State(Member member, Map<String, String> ended) {}
  }

  private static final String KEY = "fb.bank.node.a";
  private static final String FORMER_ENTRY =
      "a1655374617465a2666d656d626572a5646e616d65616162696463612d3165686f7374738164636172"
          + "74666f6666657273816474696c6c6573696e636574313937302d30312d30315430303a30303a30305a65656e646564a164646f6f7267"
          + "53746f70706564";
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Member A = new Member("a", "a-1", Set.of("cart"), Set.of("till"), Instant.EPOCH);
  private static final NodeState CURRENT_STATE = new NodeState(A, Map.of("door", "Stopped"), Optional.of(LEASE),
      Optional.empty());

  private final ManualScheduler clock = new ManualScheduler();
  private final HeartbeatTracker tracker = new HeartbeatTracker(clock, LEASE);

  private static ClusterTransport.Entry entry(byte[] bytes) {
    return new ClusterTransport.Entry(KEY, Optional.of(bytes), 1);
  }

  private static NodeState endLife(NodeState life) {
    try (var transport = MemoryNetwork.create().connect("bank", "b")) {
      long version = transport.create(KEY, life.bytes(), LEASE).orElseThrow();
      assertTrue(life.end(transport, KEY, version, "a test ended it"));
      return NodeState.of(transport.get(KEY).orElseThrow()).orElseThrow();
    }
  }

  @Test
  void nodeEntryOfOlderVersionIsDecodedWithEmptyLease() {
    var bytes = Codec.of(FormerVersion.State.class).encode(new FormerVersion.State(A, Map.of("door", "Stopped")));

    assertEquals(FORMER_ENTRY, HexFormat.of().formatHex(bytes));
    assertEquals(Optional.of(new NodeState(A, Map.of("door", "Stopped"), Optional.empty(), Optional.empty())),
        NodeState.of(entry(HexFormat.of().parseHex(FORMER_ENTRY))));
  }

  @Test
  void olderNodeReadsEntryWithoutItsNewFields() {
    assertEquals(new FormerVersion.State(A, Map.of("door", "Stopped")),
        Codec.of(FormerVersion.State.class).decode(CURRENT_STATE.bytes()));
  }

  @Test
  void olderNodeSeesNoHostedKindsInEntryOfEndedLife() {
    var endedState = Codec.of(FormerVersion.State.class).decode(endLife(CURRENT_STATE).bytes());

    assertEquals(new Member("a", "a-1", Set.of(), Set.of(), Instant.EPOCH), endedState.member());
  }

  @Test
  void concurrentHeartbeatPreventsEndOfNodeLife() {
    try (var transport = MemoryNetwork.create().connect("bank", "b")) {
      long version = transport.create(KEY, CURRENT_STATE.bytes(), LEASE).orElseThrow();
      transport.update(KEY, CURRENT_STATE.bytes(), version, LEASE);

      assertFalse(CURRENT_STATE.end(transport, KEY, version, "a test ended it"));
      assertFalse(NodeState.of(transport.get(KEY).orElseThrow()).orElseThrow().isOver());
    }
  }

  @Test
  void leaseOfNodeCountsAsValidForAnnouncedDuration() {
    tracker.onEntry(new NodeState(A, Map.of(), Optional.of(LEASE.multipliedBy(3)), Optional.empty()));

    clock.advance(LEASE.multipliedBy(3).minusMillis(1));
    assertTrue(tracker.mayHaveValidLease("a-1"));
    clock.advance(Duration.ofMillis(1));
    assertFalse(tracker.mayHaveValidLease("a-1"));
  }

  @Test
  void unseenNodeCountsAsAliveForOneLeaseAfterFirstQuery() {
    clock.advance(Duration.ofDays(1));
    assertTrue(tracker.mayHaveValidLease("x"));

    clock.advance(LEASE.minusMillis(1));
    assertTrue(tracker.mayHaveValidLease("x"));
    clock.advance(Duration.ofMillis(1));
    assertFalse(tracker.mayHaveValidLease("x"));
  }

  @Test
  void lateUpdateDoesNotReviveEndedLife() {
    tracker.onEntry(CURRENT_STATE);
    tracker.onEntry(endLife(CURRENT_STATE));
    tracker.onEntry(CURRENT_STATE);

    assertFalse(tracker.mayHaveValidLease("a-1"));
  }

  @Test
  void endedLifeIsForgottenLongAfterItsLease() {
    tracker.onLifeEnded("a-1");
    clock.advance(LEASE.multipliedBy(9));
    tracker.removeOld();
    assertFalse(tracker.mayHaveValidLease("a-1"));

    clock.advance(LEASE.multipliedBy(2));
    tracker.removeOld();
    assertTrue(tracker.mayHaveValidLease("a-1")); // a forgotten life is treated as a life without known heartbeats
  }

  @Test
  void hugeLeaseOfNodeEntryDoesNotOverflowClock() {
    tracker.onEntry(new NodeState(A, Map.of(), Optional.of(Duration.ofSeconds(Long.MAX_VALUE)), Optional.empty()));

    assertTrue(tracker.mayHaveValidLease("a-1"));
    tracker.removeOld();
  }

  /** Returns a tracker, and runs the code once, after the tracker has next read the clock. */
  private HeartbeatTracker trackerWithPause(AtomicReference<Runnable> duringPause) {
    return new HeartbeatTracker(Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      var time = call.pass();
      duringPause.getAndSet(() -> {}).run();
      return time;
    }), LEASE);
  }

  @Test
  void missingEntryDoesNotShortenLeaseOfLaterHeartbeat() {
    var duringPause = new AtomicReference<Runnable>(() -> {});
    var pausedTracker = trackerWithPause(duringPause);
    pausedTracker.onEntry(CURRENT_STATE);
    duringPause.set(() -> {
      clock.advance(LEASE.minusMillis(1));
      pausedTracker.onEntry(CURRENT_STATE);
    });

    assertTrue(pausedTracker.mayLiveWithoutEntry("a-1"));

    clock.advance(LEASE.minusMillis(1));
    assertTrue(pausedTracker.mayHaveValidLease("a-1"));
    clock.advance(Duration.ofMillis(1));
    assertFalse(pausedTracker.mayHaveValidLease("a-1"));
  }

  @Test
  void lateHeartbeatDoesNotShortenLeaseOfLaterHeartbeat() {
    var duringPause = new AtomicReference<Runnable>(() -> {});
    var pausedTracker = trackerWithPause(duringPause);
    duringPause.set(() -> {
      clock.advance(LEASE.minusMillis(1));
      pausedTracker.onEntry(CURRENT_STATE);
    });

    pausedTracker.onEntry(CURRENT_STATE);

    clock.advance(LEASE.minusMillis(1));
    assertTrue(pausedTracker.mayHaveValidLease("a-1"));
  }
}
