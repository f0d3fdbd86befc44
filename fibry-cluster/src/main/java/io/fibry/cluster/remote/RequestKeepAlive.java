package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.membership.Membership;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Subjects;
import io.fibry.cluster.wire.UnreadableMessageLog;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Tells askers which of their requests still exist, so that a lost request fails soon. Five times
 * in its lease, a node sends each asker a keep-alive with the ids of the requests that the node has
 * from this asker. These requests wait for its partitions or for the actors that it exposes, are
 * held while partitions move, or are not yet answered by its actors. An asker waits for keep-alives
 * for the longest lease of the members, less a fifth of its own lease. If none has named a request
 * for this long, the asker assumes that the request or its answer is lost. The request fails with
 * an {@link UnavailableException}, and may have been handled.
 *
 * <p>Askers need not know where a request is. So the order of events does not matter: the owner may
 * end, the partition may move, a node may forward the request, a lease may expire, or a connection
 * may break.
 * <ul>
 * <li>A request that a living, connected node has is named once in each fifth of a lease. So its
 * asker misses at least three keep-alives in a row before the request fails. While a request
 * travels between two nodes, no node names it. {@code PartitionGate} names it from its arrival
 * until the gate delivers or forwards it, also while it waits for capacity. {@link ExposedActor}
 * names it from its arrival until it is delivered, with or without a gate.
 * {@link InboundDispatcher} names it from its delivery until its answer was sent.
 * <li>A request that no node has is not named: its message was lost, its owner was killed, its
 * owner lapsed and dropped it, or its answer was lost. It fails at the latest when the longest
 * lease of the members has passed since its last keep-alive.
 * <li>A request whose subject has no subscriber is not lost: its asker learns that, and sends it
 * again. Each sending counts as a keep-alive.
 * <li>A request may fail and be answered later if its keep-alives are lost, or a node is
 * disconnected for longer than a lease. Therefore its outcome is unknown. The late answer is
 * dropped, and a handler that has not begun is cancelled.
 * <li>If the asker itself was paused, keep-alives may wait in its socket. So the asker measures the
 * time without keep-alives from the end of the pause.
 * <li>A node of an older version sends no keep-alives. While such a node is a member, no request
 * fails for lack of keep-alives: {@link Membership#longestLease} is empty.
 * </ul>
 *
 * <p>An owner does not name a message that it finds in the store, because the store does not know
 * the asker. The request fails at its asker in this case, although the stored message is handled.
 *
 * <p>A volatile field of each request has the time at which the request was last named or sent.
 * Threads of the transport and of senders write it, and the actor of this class writes it after a
 * pause. This actor compares this time with the current time. If a keep-alive arrives during the
 * comparison, the request may fail nevertheless, because no node named it for so long before. Only
 * the thread of this actor uses the fields of this class.
 */
public final class RequestKeepAlive {
  private static final String NODE = "Fb-Held"; // the header with the name of the sending node
  private static final int KEEP_ALIVES_PER_LEASE = 5;
  private static final int MAX_IDS = 1_024; // in a keep-alive: about 10 KiB, which every network accepts
  private static final Codec<Ids> CODEC = Codec.of(Ids.class);

  /**
   * The ids in a keep-alive. An id is a prefix, a dot and a number. The prefix {@code life} is the
   * name and the life of the asker's node.
   */
  private record Ids(String life, List<Long> numbers) {}

  private record KeepAliveTick() {}

  private final NodeContext nodeContext;
  private final Duration lease;
  private final Duration period;
  private long lastTick; // in nanoseconds of the clock

  private RequestKeepAlive(NodeContext nodeContext, Duration lease) {
    this.nodeContext = nodeContext;
    this.lease = lease;
    this.period = lease.dividedBy(KEEP_ALIVES_PER_LEASE);
    this.lastTick = nodeContext.clock().nanoTime();
  }

  /** Begins to send and to receive keep-alives, until the node ends. */
  public static void begin(NodeContext nodeContext, Duration lease) {
    var keepAlive = new RequestKeepAlive(nodeContext, lease);
    nodeContext.transport().subscribe(nodeContext.subjects().ofKeepAlives(nodeContext.node()), Optional.empty(),
        wire -> onKeepAlive(wire, nodeContext.requests()));
    Actor<KeepAliveTick> actor = InternalActors.newEventBuilder(nodeContext.scope()).newActor(keepAlive::tick);
    actor.sendMessageEvery(new KeepAliveTick(), keepAlive.period);
  }

  private void tick(KeepAliveTick tick) {
    sendKeepAlives();
    failSilentRequests();
  }

  // ---- the node that has requests

  private void sendKeepAlives() {
    var numbersByLife = new TreeMap<String, List<Long>>();
    for (var id : nodeContext.requests().inboundIds()) {
      int dot = id.lastIndexOf('.');
      if (id.substring(dot + 1).matches("\\d{1,18}"))
        numbersByLife.computeIfAbsent(id.substring(0, Math.max(0, dot)), prefix -> new ArrayList<>())
            .add(Long.parseLong(id.substring(dot + 1)));
    }
    numbersByLife.forEach((life, numbers) -> {
      String node = life.replaceFirst("\\..*", "");
      if (!Subjects.isName(node)) return; // not an id of a node
      for (int i = 0; i < numbers.size(); i += MAX_IDS)
        send(node, new Ids(life, List.copyOf(numbers.subList(i, Math.min(numbers.size(), i + MAX_IDS)))));
    });
  }

  private void send(String node, Ids ids) {
    try {
      nodeContext.transport().publish(
          WireMessage.oneWay(nodeContext.subjects().ofKeepAlives(node), Map.of(NODE, nodeContext.node()),
              CODEC.encode(ids)));
    } catch (TransportException failure) { // without a connection, the lease of this node expires anyway
      SafeLogger.of(Cluster.class).debug("node '{}' could not be notified that this node has its requests",
          node, failure);
    }
  }

  // ---- the node of their asker

  /** Receives a keep-alive, on a thread of the transport. */
  private static void onKeepAlive(WireMessage wire, RequestRegistry requests) {
    var node = wire.header(NODE);
    if (node.isPresent()) for (var id : ids(wire)) requests.onKeepAlive(id, node.get());
  }

  /** {@return the ids in a keep-alive; empty if it cannot be read} */
  public static List<String> ids(WireMessage wire) {
    try {
      var ids = CODEC.decode(wire.body());
      return ids.numbers.stream().map(number -> ids.life + "." + number).toList();
    } catch (CodecException failure) {
      UnreadableMessageLog.log("a node got a keep-alive", wire, failure);
      return List.of();
    }
  }

  private void failSilentRequests() {
    long now = nodeContext.clock().nanoTime();
    boolean wasPaused = now - lastTick > 2 * period.toNanos();
    lastTick = now;
    var longestLease = nodeContext.membership().longestLease(lease);
    for (var request : nodeContext.requests().sentRequests()) {
      if (wasPaused || longestLease.isEmpty()) request.restartSilence();
      else request.failIfSilent(now, longestLease.get().minus(period));
    }
  }
}
