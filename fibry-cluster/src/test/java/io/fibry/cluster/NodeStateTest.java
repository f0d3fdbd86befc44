package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The entry of a node, for nodes of several versions, and how long a life may have its parts. */
class NodeStateTest {
  /** The entry of a node before lives had an end and told their lease. */
  interface Former {
    record State(Member member, Map<String, String> ended) {}
  }

  private static final String KEY = "fb.bank.node.a";
  private static final String FORMER =
      "a1655374617465a2666d656d626572a5646e616d65616162696463612d3165686f7374738164636172"
          + "74666f6666657273816474696c6c6573696e636574313937302d30312d30315430303a30303a30305a65656e646564a164646f6f7267"
          + "53746f70706564";
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Member A = new Member("a", "a-1", Set.of("cart"), Set.of("till"), Instant.EPOCH);
  private static final NodeState PRESENT = new NodeState(A, Map.of("door", "Stopped"), Optional.of(LEASE),
      Optional.empty());

  private final ManualScheduler clock = new ManualScheduler();
  private final HeartbeatTracker lives = new HeartbeatTracker(clock, LEASE);

  private static ClusterTransport.Entry entry(byte[] bytes) {
    return new ClusterTransport.Entry(KEY, Optional.of(bytes), 1);
  }

  private static NodeState over(NodeState life) {
    try (var engine = MemoryNetwork.create().connect("bank", "b")) {
      long version = engine.create(KEY, life.bytes(), LEASE).orElseThrow();
      assertTrue(life.end(engine, KEY, version, "a test ended it"));
      return NodeState.of(engine.get(KEY).orElseThrow()).orElseThrow();
    }
  }

  @Test
  void entryOfOlderVersionIsRead() {
    var former = Codec.of(Former.State.class).encode(new Former.State(A, Map.of("door", "Stopped")));

    assertEquals(FORMER, HexFormat.of().formatHex(former));
    assertEquals(Optional.of(new NodeState(A, Map.of("door", "Stopped"), Optional.empty(), Optional.empty())),
        NodeState.of(entry(HexFormat.of().parseHex(FORMER))));
  }

  @Test
  void olderNodesReadEntry() {
    assertEquals(new Former.State(A, Map.of("door", "Stopped")), Codec.of(Former.State.class).decode(PRESENT.bytes()));
  }

  @Test
  void endedLifeHostsNothingForOlderNodes() {
    var over = Codec.of(Former.State.class).decode(over(PRESENT).bytes());

    assertEquals(new Member("a", "a-1", Set.of(), Set.of(), Instant.EPOCH), over.member());
  }

  @Test
  void concurrentHeartbeatPreventsEndOfLife() {
    try (var engine = MemoryNetwork.create().connect("bank", "b")) {
      long version = engine.create(KEY, PRESENT.bytes(), LEASE).orElseThrow();
      engine.update(KEY, PRESENT.bytes(), version, LEASE);

      assertFalse(PRESENT.end(engine, KEY, version, "a test ended it"));
      assertFalse(NodeState.of(engine.get(KEY).orElseThrow()).orElseThrow().isOver());
    }
  }

  @Test
  void lifeMayLastForItsAnnouncedLease() {
    lives.onEntry(new NodeState(A, Map.of(), Optional.of(LEASE.multipliedBy(3)), Optional.empty()));

    clock.advance(LEASE.multipliedBy(3).minusMillis(1));
    assertTrue(lives.mayHaveValidLease("a-1"));
    clock.advance(Duration.ofMillis(1));
    assertFalse(lives.mayHaveValidLease("a-1"));
  }

  @Test
  void unheardLifeMayLastOneLeaseAfterFirstQuery() {
    clock.advance(Duration.ofDays(1));
    assertTrue(lives.mayHaveValidLease("x"));

    clock.advance(LEASE.minusMillis(1));
    assertTrue(lives.mayHaveValidLease("x"));
    clock.advance(Duration.ofMillis(1));
    assertFalse(lives.mayHaveValidLease("x"));
  }

  @Test
  void lateUpdateRevivesNoEndedLife() {
    lives.onEntry(PRESENT);
    lives.onEntry(over(PRESENT));
    lives.onEntry(PRESENT);

    assertFalse(lives.mayHaveValidLease("a-1"));
  }

  @Test
  void livesAreForgottenLongAfterTheirLease() {
    lives.onLifeEnded("a-1");
    clock.advance(LEASE.multipliedBy(9));
    lives.removeOld();
    assertFalse(lives.mayHaveValidLease("a-1"));

    clock.advance(LEASE.multipliedBy(2));
    lives.removeOld();
    assertTrue(lives.mayHaveValidLease("a-1")); // as a life that was never seen
  }

  @Test
  void leaseOfForeignBytesOverflowsNoClock() {
    lives.onEntry(new NodeState(A, Map.of(), Optional.of(Duration.ofSeconds(Long.MAX_VALUE)), Optional.empty()));

    assertTrue(lives.mayHaveValidLease("a-1"));
    lives.removeOld();
  }

}
