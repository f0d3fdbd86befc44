package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.LoggerFactory;

/**
 * Tells askers that their requests still exist, so that they fail as soon as none does. Five times
 * in its lease, a node tells each asker the ids of the requests that it has. These are the requests
 * in the mailboxes of its parts and offers, those that it holds while keys move, and those that it
 * has asked of its actors. A request of which its asker has heard nothing for a lease is lost, with
 * its answer. It fails with an {@link UnreachableException}, and may have been handled.
 *
 * <p>Askers need not know where a request is. So it does not matter in which order its home ends,
 * the key moves, a node passes the request on, the table tells the end of a lease, or a connection
 * breaks on either side:
 * <ul>
 * <li>A request that a living, connected node has is claimed once in each fifth of a lease, so its
 * asker misses at least three claims in a row before the request fails. Between two nodes it
 * belongs to no node for the time of one message. {@link PartitionGate} claims it from its arrival
 * until it leaves again, also while it waits for room; {@link InboundDispatcher} from then on until
 * the answer.
 * <li>A request that no node has is not claimed, for whatever reason: a message of it was lost, its
 * home was killed, its home lapsed and dropped it, or its answer was lost. The last claim was made
 * while a node had it. So it fails a lease later at the latest.
 * <li>A request for which nobody listens is not lost: its asker knows that, and sends it again.
 * Each sending counts as a claim.
 * <li>If claims are lost, or a node is cut off for longer than a lease, a request may fail that is
 * answered later. That is why it may have run; the late answer is dropped, and what has not begun
 * is taken back.
 * <li>If the asker itself was paused, claims may wait in its socket. Then its silence starts again.
 * <li>A node of an older version claims nothing. As long as one is a member, no request fails for
 * that: {@link Membership#longestLease} is empty.
 * </ul>
 *
 * <p>A kept request is not claimed by the home that finds it in the store: no asker waits there. It
 * fails here, and is handled there if it was stored.
 *
 * <p>The engine's thread writes when a request was heard of, and the actor of this class compares
 * it: one volatile number for each request. If a claim comes while it compares, the request has not
 * been heard of for nearly a lease, and may fail all the same. Fields are of that actor.
 */
final class RequestClaims {
  private static final String NODE = "Fb-Held"; // by this node
  private static final int CLAIMS_PER_LEASE = 5;
  private static final int MAX_IDS = 1_024; // ids in a message: some 10 KiB, which each server takes
  private static final Codec<Ids> CODEC = Codec.of(Ids.class);

  /** The end of each id, since all of them begin with the life of their asker. */
  private record Ids(String life, List<Long> numbers) {}

  private record ClaimTick() {}

  private final NodeContext nodeContext;
  private final Duration lease;
  private final Duration period;
  private long lastTick;

  private RequestClaims(NodeContext nodeContext, Duration lease) {
    this.nodeContext = nodeContext;
    this.lease = lease;
    this.period = lease.dividedBy(CLAIMS_PER_LEASE);
    this.lastTick = nodeContext.clock().nanoTime();
  }

  /** Ends with the node. */
  static void begin(NodeContext nodeContext, Duration lease) {
    var claims = new RequestClaims(nodeContext, lease);
    nodeContext.engine().subscribe(nodeContext.subjects().ofClaims(nodeContext.node()), Optional.empty(),
        claim -> onClaim(claim, nodeContext.pendingRequests()));
    Actor<ClaimTick> actor = nodeContext.newInternalBuilder().newActor(claims::tick);
    actor.sendMessageEvery(new ClaimTick(), claims.period);
  }

  private void tick(ClaimTick tick) {
    sendClaims();
    failSilentRequests();
  }

  // ---- of the node that has requests

  private void sendClaims() {
    var byLife = new TreeMap<String, List<Long>>();
    for (var id : nodeContext.pendingRequests().localIds()) {
      int dot = id.lastIndexOf('.');
      if (id.substring(dot + 1).matches("\\d{1,18}"))
        byLife.computeIfAbsent(id.substring(0, Math.max(0, dot)), none -> new ArrayList<>())
            .add(Long.parseLong(id.substring(dot + 1)));
    }
    byLife.forEach((life, numbers) -> {
      String node = life.replaceFirst("\\..*", "");
      if (!Subjects.isName(node)) return; // of a foreign program
      for (int i = 0; i < numbers.size(); i += MAX_IDS)
        send(node, new Ids(life, List.copyOf(numbers.subList(i, Math.min(numbers.size(), i + MAX_IDS)))));
    });
  }

  private void send(String node, Ids ids) {
    try {
      nodeContext.engine().publish(
          WireMessage.to(nodeContext.subjects().ofClaims(node), Map.of(NODE, nodeContext.node()), CODEC.encode(ids)));
    } catch (TransportException cut) { // the lease of this node counts, too
      LoggerFactory.getLogger(Cluster.class).debug("node '{}' does not hear that its requests are here", node, cut);
    }
  }

  // ---- of their asker

  /** Hears a claim, on the engine's thread. */
  private static void onClaim(WireMessage wire, PendingRequests underWay) {
    var node = wire.header(NODE);
    if (node.isPresent()) for (var id : ids(wire)) underWay.onClaimed(id, node.get());
  }

  /** {@return the ids in a claim; none if it cannot be read} */
  static List<String> ids(WireMessage claim) {
    try {
      var ids = CODEC.decode(claim.body());
      return ids.numbers.stream().map(number -> ids.life + "." + number).toList();
    } catch (CodecException foreign) {
      UnreadableMessageLog.log("a node got claims", claim, foreign);
      return List.of();
    }
  }

  private void failSilentRequests() {
    long now = nodeContext.clock().nanoTime();
    boolean paused = now - lastTick > 2 * period.toNanos();
    lastTick = now;
    var longest = nodeContext.membership().longestLease(lease);
    for (var request : nodeContext.pendingRequests().sentRequests()) {
      if (paused || longest.isEmpty()) request.onSent();
      else request.failIfSilent(now, longest.get().minus(period));
    }
  }
}
