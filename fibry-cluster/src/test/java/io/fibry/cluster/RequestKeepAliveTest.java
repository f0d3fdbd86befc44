package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.remote.InboundMessage;
import io.fibry.cluster.remote.RequestKeepAlive;
import io.fibry.cluster.remote.RequestRegistry;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Subjects;
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

/** Tests keep-alives, by which a node confirms to each asker that it has the asker's requests. */
class RequestKeepAliveTest {
  record Job() implements Request<Job, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10);

  private static InboundMessage inboundMessage(String id, Object holder) {
    return new InboundMessage(
        new WireMessage("x", Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), new byte[0]), holder,
        0);
  }

  @Test
  void duplicateRequestNeitherStartsNorEndsKeepAlive() {
    var registry = new RequestRegistry();
    var first = inboundMessage("a.life.1", this);
    var copy = inboundMessage("a.life.1", this);
    registry.addWaiting(first);
    registry.addWaiting(copy);

    registry.removeWaiting(copy);
    assertEquals(Set.of("a.life.1"), registry.inboundIds());
    registry.removeWaiting(first);

    assertEquals(Set.of(), registry.inboundIds());
  }

  @Test
  void pendingIdsOmitRequestsOfRemovedPartition() {
    var registry = new RequestRegistry();
    registry.addWaiting(inboundMessage("a.life.1", "part"));
    registry.addWaiting(inboundMessage("a.life.2", "offer"));

    registry.removeAllOf("part");

    assertEquals(Set.of("a.life.2"), registry.inboundIds());
  }

  @Test
  void requestCancelledBeforeDeliveryIsNotDelivered() {
    var registry = new RequestRegistry();
    var message = inboundMessage("a.life.1", this);
    registry.addWaiting(message);

    registry.cancel(message.wire());

    assertEquals(Optional.empty(), message.withRemainingTime(new ManualScheduler()));
    assertEquals(0, registry.unansweredCount());
    assertEquals(Set.of(), registry.inboundIds());
  }

  /** The cancellation arrives while the delivery waits for capacity in the actor's mailbox. */
  @Test
  void cancelDuringDeliveryCancelsAnswer() {
    var registry = new RequestRegistry();
    var message = inboundMessage("a.life.1", this);
    var answer = new CompletableFuture<Integer>();
    registry.addWaiting(message);

    registry.cancel(message.wire());
    registry.addDelivered(message.wire(), answer);

    assertTrue(answer.isCancelled());
  }

  @Test
  void messageThatMustBeStoredIsNotCancelled() {
    var registry = new RequestRegistry();
    var message = new InboundMessage(new WireMessage("x", Optional.of("answers"),
        Map.of(Destination.MESSAGE_ID, "a.life.1", Destination.STORE, ""), new byte[0]), this, 0);
    registry.addWaiting(message);

    registry.cancel(message.wire());

    assertEquals(Optional.of(message.wire()), message.withRemainingTime(new ManualScheduler()));
  }

  @Test
  void olderNodeDecodesTableEntryOfNewerNode() {
    var member = new Member("a", "life", Set.of(), Set.of("till"), Instant.EPOCH);
    var bytes = new NodeState(member, Map.of("clerk", "Stopped"), Optional.of(LEASE), Optional.empty()).bytes();

    var oldState = Codec.of(LostRequestsContract.OldVersion.State.class).decode(bytes);

    assertEquals(new LostRequestsContract.OldVersion.State(member, Map.of("clerk", "Stopped")), oldState);
  }

  /** Foreign programs send requests with invalid ids, and bytes that are no keep-alive. */
  @Test
  void keepAlivesListAllRequestsDespiteInvalidRequestIds() {
    var clock = new ManualScheduler();
    var network = MemoryNetwork.create();
    var confirmedIds = ConcurrentHashMap.<String>newKeySet();
    var keepAlivesToOther = new AtomicInteger();
    var sentIds = new HashSet<String>();
    IntStream.range(0, 3_000).forEach(i -> sentIds.add("asker.life." + i));
    try (ActorScope scope = ActorSystem.openScope("keep-alives", options -> options.withScheduler(clock));
        var transport = network.connect("shop", "asker");
        var node =
            Cluster.join("shop", network, options -> options.withNode("home").withLease(LEASE).withScope(scope))) {
      var subjects = new Subjects("shop");
      node.expose("clerk", Job.class, scope.anonymous().newActor((Job job, ActorContext<Job> context) -> context
          .replyWhen(job, new CompletableFuture<>())));
      transport.subscribe(subjects.ofKeepAlives("asker"), Optional.empty(),
          keepAlive -> confirmedIds.addAll(RequestKeepAlive.ids(keepAlive)));
      transport.subscribe(subjects.ofKeepAlives("other"), Optional.empty(),
          keepAlive -> keepAlivesToOther.incrementAndGet());
      var foreign =
          List.of("other", "", ".", "..", "other.9", "*.life.1", "Ää.life.2", "other.life.99999999999999999999",
              "other.life.-1", "other.life.x");
      var body = Codec.of(Job.class).encode(new Job());
      for (var id : foreign) transport.publish(
          new WireMessage(subjects.ofActor("clerk"), Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), body));
      transport
          .publish(WireMessage.oneWay(subjects.ofKeepAlives("home"), Map.of("Fb-Held", "x"), new byte[] {1, 2, 3}));
      for (var id : sentIds) transport.publish(
          new WireMessage(subjects.ofActor("clerk"), Optional.of("answers"), Map.of(Destination.MESSAGE_ID, id), body));
      Patience.eventually(() -> node.health().pendingRequests() == sentIds.size() + foreign.size());

      clock.advance(LEASE.dividedBy(5));

      Patience.eventually(() -> confirmedIds.size() == sentIds.size());
      assertEquals(sentIds, confirmedIds);
      Patience.eventually(() -> keepAlivesToOther.get() > 0);
      assertTrue(keepAlivesToOther.get() <= 1, () -> keepAlivesToOther + " keep-alives to 'other'");
    }
  }
}
