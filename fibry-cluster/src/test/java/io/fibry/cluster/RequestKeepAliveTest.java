package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The claims of nodes, and their receivers. */
class RequestKeepAliveTest {
  record Job() implements Request<Job, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10);

  private static InboundMessage arrived(String id, Object holder) {
    return new InboundMessage(
        new WireMessage("x", Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), new byte[0]), holder,
        0);
  }

  @Test
  void duplicateRequestNeitherBeginsNorEndsClaim() {
    var underWay = new RequestRegistry();
    var first = arrived("a.life.1", this);
    var copy = arrived("a.life.1", this);
    underWay.addWaiting(first);
    underWay.addWaiting(copy);

    underWay.removeWaiting(copy);
    assertEquals(Set.of("a.life.1"), underWay.inboundIds());
    underWay.removeWaiting(first);

    assertEquals(Set.of(), underWay.inboundIds());
  }

  @Test
  void droppedHolderClaimsNoRequests() {
    var underWay = new RequestRegistry();
    underWay.addWaiting(arrived("a.life.1", "part"));
    underWay.addWaiting(arrived("a.life.2", "offer"));

    underWay.removeAllOf("part");

    assertEquals(Set.of("a.life.2"), underWay.inboundIds());
  }

  @Test
  void anOlderNodeReadsTheStateOfANewOne() {
    var member = new Member("a", "life", Set.of(), Set.of("till"), Instant.EPOCH);
    var bytes = new NodeState(member, Map.of("clerk", "Stopped"), Optional.of(LEASE), Optional.empty()).bytes();

    var old = Codec.of(LostRequestsContract.Old.State.class).decode(bytes);

    assertEquals(new LostRequestsContract.Old.State(member, Map.of("clerk", "Stopped")), old);
  }

  /** Ids of foreign programs, and bytes that are no claim, stop no claims. */
  @Test
  void eachAskerGetsClaimsForAllItsRequests() {
    var clock = new ManualScheduler();
    var network = MemoryNetwork.create();
    var heard = ConcurrentHashMap.<String>newKeySet();
    var others = new AtomicInteger();
    var sent = new HashSet<String>();
    IntStream.range(0, 3_000).forEach(i -> sent.add("asker.life." + i));
    try (ActorScope scope = ActorSystem.openScope("claims", options -> options.withScheduler(clock));
        var engine = network.connect("shop", "asker");
        var home = Cluster.join("shop", network, options -> options.withNode("home").withLease(LEASE).withScope(scope)
            .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())))) {
      var subjects = new Subjects("shop");
      home.expose("clerk", Job.class, scope.anonymous().newActor((Job job, ActorContext<Job> context) -> context
          .replyWhen(job, new CompletableFuture<>())));
      engine.subscribe(subjects.ofKeepAlives("asker"), Optional.empty(),
          claim -> heard.addAll(RequestKeepAlive.ids(claim)));
      engine.subscribe(subjects.ofKeepAlives("other"), Optional.empty(), claim -> others.incrementAndGet());
      var foreign =
          List.of("other", "", ".", "..", "other.9", "*.life.1", "Ää.life.2", "other.life.99999999999999999999",
              "other.life.-1", "other.life.x");
      var body = Codec.of(Job.class).encode(new Job());
      for (var id : foreign) engine.publish(
          new WireMessage(subjects.ofActor("clerk"), Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), body));
      engine.publish(WireMessage.to(subjects.ofKeepAlives("home"), Map.of("Fb-Held", "x"), new byte[] {1, 2, 3}));
      for (var id : sent) engine.publish(
          new WireMessage(subjects.ofActor("clerk"), Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), body));
      Patience.eventually(() -> home.health().pendingRequests() == sent.size() + foreign.size());

      clock.advance(LEASE.dividedBy(5));

      Patience.eventually(() -> heard.size() == sent.size());
      assertEquals(sent, heard);
      Patience.eventually(() -> others.get() > 0);
      assertTrue(others.get() <= 1, () -> others + " claims for 'other.9'");
    }
  }
}
