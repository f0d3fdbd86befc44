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
 * Tells askers which of their requests still exist, so that a lost request fails soon. Five times
 * in its lease, a node sends each asker a claim: the ids of the asker's requests that the node has.
 * These are the requests in the mailboxes of its partitions and offers, the requests that it holds
 * while keys move, and the requests that its actors are asked. If an asker has received no claim of
 * a request for a lease, the request is lost, or its answer is. It fails with an {@link
 * UnreachableException}, and may have been handled.
 *
 * <p>Askers need not know where a request is. So the order of events does not matter: its owner
 * ends, the key moves, a node forwards the request, a lease ends, or a connection breaks.
 * <ul>
 * <li>A request that a living, connected node has is claimed once in each fifth of a lease. So its
 * asker misses at least three claims in a row before the request fails. Between two nodes it
 * belongs to no node for the time of one message. {@link PartitionGate} claims it from its arrival
 * until it leaves again, also while it waits for capacity. {@link InboundDispatcher} claims it from
 * then on until the answer.
 * <li>A request that no node has is not claimed: its message was lost, its owner was killed, its
 * owner lapsed and dropped it, or its answer was lost. The last claim was made while a node had it.
 * So it fails a lease later at the latest.
 * <li>A request whose subject has no subscriber is not lost: its asker learns that, and sends it
 * again. Each sending counts as a claim. * <li>A request may fail and be answered later, if its
 * claims are lost, or a node is disconnected for longer than a lease. Therefore its outcome is
 * unknown. The late answer is dropped, and a handler that has not begun is cancelled.
 * <li>If the asker itself was paused, claims may wait in its socket. So the time without claims
 * begins again.
 * <li>A node of an older version claims nothing. While such a node is a member, no request
 * fails for lack of claims: {@link Membership#longestLease} is empty.
 * </ul>
 *
 * <p>If the owner finds a stored message in the store, it does not claim it, because the message
 * has no asker there. The request fails at its asker, and the message is handled if it was stored.
 *
 * <p>The thread of the transport writes when a request was last claimed, and the actor of this
 * class compares it: one volatile number for each request. A request may fail although a claim
 * arrives during the comparison; then it was not claimed for nearly a lease. Fields are used by the
 * thread of that actor.
 */
final class RequestClaims {
  private static final String NODE = "Fb-Held"; // the header with the name of the claiming node
  private static final int CLAIMS_PER_LEASE = 5;
  private static final int MAX_IDS = 1_024; // in a claim: about 10 KiB, which each server accepts
  private static final Codec<Ids> CODEC = Codec.of(Ids.class);

  /** The ids of a claim. Each id is the life of the asker, a dot and a number. */
  private record Ids(String life, List<Long> numbers) {}

  private record ClaimTick() {}

  private final NodeContext nodeContext;
  private final Duration lease;
  private final Duration period;
  private long lastTick; // in nanoseconds of the clock

  private RequestClaims(NodeContext nodeContext, Duration lease) {
    this.nodeContext = nodeContext;
    this.lease = lease;
    this.period = lease.dividedBy(CLAIMS_PER_LEASE);
    this.lastTick = nodeContext.clock().nanoTime();
  }

  /** Begins to send and to receive claims, until the node ends. */
  static void begin(NodeContext nodeContext, Duration lease) {
    var claims = new RequestClaims(nodeContext, lease);
    nodeContext.transport().subscribe(nodeContext.subjects().ofClaims(nodeContext.node()), Optional.empty(),
        claim -> onClaim(claim, nodeContext.pendingRequests()));
    Actor<ClaimTick> actor = nodeContext.newEventBuilder().newActor(claims::tick);
    actor.sendMessageEvery(new ClaimTick(), claims.period);
  }

  private void tick(ClaimTick tick) {
    sendClaims();
    failSilentRequests();
  }

  // ---- the node that has requests

  private void sendClaims() {
    var byLife = new TreeMap<String, List<Long>>();
    for (var id : nodeContext.pendingRequests().localIds()) {
      int dot = id.lastIndexOf('.');
      if (id.substring(dot + 1).matches("\\d{1,18}"))
        byLife.computeIfAbsent(id.substring(0, Math.max(0, dot)), prefix -> new ArrayList<>())
            .add(Long.parseLong(id.substring(dot + 1)));
    }
    byLife.forEach((life, numbers) -> {
      String node = life.replaceFirst("\\..*", "");
      if (!Subjects.isName(node)) return; // not an id of a node
      for (int i = 0; i < numbers.size(); i += MAX_IDS)
        send(node, new Ids(life, List.copyOf(numbers.subList(i, Math.min(numbers.size(), i + MAX_IDS)))));
    });
  }

  private void send(String node, Ids ids) {
    try {
      nodeContext.transport().publish(
          WireMessage.to(nodeContext.subjects().ofClaims(node), Map.of(NODE, nodeContext.node()), CODEC.encode(ids)));
    } catch (TransportException failure) { // without a connection, the lease of this node expires, too
      LoggerFactory.getLogger(Cluster.class).debug("node '{}' is not told that this node has its requests", node,
          failure);
    }
  }

  // ---- the node of their asker

  /** Receives a claim, on a thread of the transport. */
  private static void onClaim(WireMessage wire, PendingRequests pendingRequests) {
    var node = wire.header(NODE);
    if (node.isPresent()) for (var id : ids(wire)) pendingRequests.onClaimed(id, node.get());
  }

  /** {@return the ids in a claim; empty if it cannot be read} */
  static List<String> ids(WireMessage claim) {
    try {
      var ids = CODEC.decode(claim.body());
      return ids.numbers.stream().map(number -> ids.life + "." + number).toList();
    } catch (CodecException failure) {
      UnreadableMessageLog.log("a node got claims", claim, failure);
      return List.of();
    }
  }

  private void failSilentRequests() {
    long now = nodeContext.clock().nanoTime();
    boolean wasPaused = now - lastTick > 2 * period.toNanos();
    lastTick = now;
    var longestLease = nodeContext.membership().longestLease(lease);
    for (var request : nodeContext.pendingRequests().sentRequests()) {
      if (wasPaused || longestLease.isEmpty()) request.onSent();
      else request.failIfSilent(now, longestLease.get().minus(period));
    }
  }
}
