package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.PartitionState.PartitionStage;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pool.Entities;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a kind at this node, and their hand-over between nodes.
 *
 * <p>All nodes compute the same wished owner of each part. The actual owner is an entry of the
 * table, its right, which is changed by compare-and-set, and ends with the owner's lease. An actor,
 * the steward, brings the rights of this node in line with the wishes. A {@link PartitionState} is
 * the steward's view of one part, and a {@link PartitionGate} holds or handles its messages.
 *
 * <p><b>States</b> of a slot, in the order of a hand-over from node a to node b:
 *
 * <pre>
 *   at a                                          at b
 *   OWNED    handles messages                     AWAY    does not listen
 *   GIVING   its entities handle the rest, end
 *   GIVEN    holds new messages, freed the right
 *                                                 AWAY    listens, holds, writes its right
 *                                                 OWNED   waits for the messages that a held
 *   PASSING  passes messages on, for a while
 *   AWAY     does not listen                      OWNED   handles them, then its own
 * </pre>
 *
 * <p><b>No message is lost,</b> because b listens before it writes its right, and a listens until
 * it has passed messages on for a while. <b>None is handled twice,</b> because both nodes get the
 * messages of that time, and b recognizes duplicates by their ids. A right names the version that
 * it replaced: so a passes the held messages to the next owner, or drops the part if several nodes
 * owned it meanwhile. A node that loses its lease drops its parts.
 *
 * <p>Fields without a remark belong to the steward's thread.
 */
final class PartitionCoordinator<M> {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(5); // with the node before
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration COORDINATOR_STOP_TIMEOUT = Duration.ofSeconds(2); // of the steward
  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration STORE_CHECK_INTERVAL = Duration.ofMinutes(1); // from one look at the store to the next
  private static final int MAX_MOVING_FRACTION = 8; // an eighth of the parts moves at once
  static final String PARTITION_HEADER = "Fb-Part"; // of what one node hands to the next
  static final String TRANSFER_COMPLETE_HEADER = "Fb-All"; // was handed

  private sealed interface PartitionEvent {}

  private record MembershipUpdate(List<Member> all) implements PartitionEvent {}

  private record OwnershipUpdate(ClusterTransport.Entry entry) implements PartitionEvent {}

  private record PartitionReleased(int number, PartitionGate<?> gate) implements PartitionEvent {}

  private record PartitionEnded(int number, PartitionGate<?> gate) implements PartitionEvent {}

  private record PartitionTick() implements PartitionEvent {}

  private record LeaseLapsed() implements PartitionEvent {}

  private record ReleaseAll() implements PartitionEvent, Request<ReleaseAll, Done> {}

  private record SettleRequest() implements PartitionEvent, Request<SettleRequest, Done> {}

  private final NodeContext nodeContext;
  private final String kind;
  private final Protocol<M> protocol;
  private final EntityFactory<M> entityFactory;
  private final AtomicReferenceArray<PartitionGate<M>> gates; // null if there is none; read by all threads
  private final AtomicReferenceArray<Entities<String, M>> entities; // null if there are none; read by all threads
  private final Actor<PartitionEvent> coordinator;
  private final List<PartitionState> partitions;
  private List<Member> members = List.of();
  private long settledAt;
  private long storeCheckAt;
  private Optional<CompletableFuture<Done>> settledFuture = Optional.empty(); // for callers that wait for that
  private Optional<CompletableFuture<Done>> releaseAllDone = Optional.empty(); // this node gives all away

  PartitionCoordinator(NodeContext nodeContext, String kind, int partitions, Protocol<M> protocol,
      EntityFactory<M> entityFactory) {
    this.nodeContext = nodeContext;
    this.kind = kind;
    this.protocol = protocol;
    this.entityFactory = entityFactory;
    this.gates = new AtomicReferenceArray<>(partitions);
    this.entities = new AtomicReferenceArray<>(partitions);
    this.partitions = IntStream.range(0, partitions).mapToObj(i -> new PartitionState(nodeContext, kind, i)).toList();
    this.settledAt = nodeContext.clock().nanoTime();
    this.storeCheckAt = settledAt + STORE_CHECK_INTERVAL.toNanos();
    this.coordinator = nodeContext.newInternalBuilder().newActor(this::handle);
  }

  /** When others can pass on what they have for this node. */
  void begin() {
    boolean begun = false;
    try {
      String keys = nodeContext.subjects().keysOfPartitions(kind);
      coordinator
          .closeOnExit(nodeContext.engine().watch(keys, entry -> coordinator.sendMessage(new OwnershipUpdate(entry))));
      coordinator.closeOnExit(
          nodeContext.membership().all().subscribe(all -> coordinator.sendMessage(new MembershipUpdate(all))));
      coordinator.closeOnExit(nodeContext.lease().onExpired(() -> coordinator.sendMessage(new LeaseLapsed())));
      coordinator.sendMessageEvery(new PartitionTick(), TICK);
      nodeContext.lease().host(kind, true);
      settle();
      begun = true;
    } finally {
      if (!begun) dropAll();
    }
  }

  /** Waits until each part has an owner, so that messages find one. */
  private void settle() {
    try {
      coordinator.sendMessageReturn(new SettleRequest()).orTimeout(SETTLE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (RuntimeException late) {
      LOG.warn("not all parts of '{}' have an owner so far", kind, late);
    }
  }

  // ---- for all

  HostingStats stats() {
    var here = IntStream.range(0, entities.length()).mapToObj(entities::get).filter(Objects::nonNull).toList();
    return new HostingStats(partitions.size(), here.size(), here.stream().mapToLong(Entities::size).sum());
  }

  /** Called on the engine's thread, with a message that the previous owner passes on. */
  void receiveTransfer(int number, WireMessage wire) {
    if (number < 0 || number >= gates.length()) return;
    var gate = gates.get(number);
    if (gate == null) return;
    if (wire.header(TRANSFER_COMPLETE_HEADER).isPresent()) gate.onTransferComplete();
    else gate.receiveTransfer(wire);
  }

  /** Gives all parts to others, and waits for that. */
  void releaseAll(Duration limit) {
    try {
      nodeContext.lease().host(kind, false);
      coordinator.sendMessageReturn(new ReleaseAll()).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException late) {
      LOG.warn("'{}' left before others had all of its parts", kind, late);
    } finally {
      drop();
      withdrawAll();
    }
  }

  private void dropAll() {
    drop();
    withdrawAll();
    try {
      nodeContext.lease().host(kind, false);
    } catch (RuntimeException cut) {
      LOG.warn("others may take this node for a home of '{}'", kind, cut);
    }
  }

  /** Drops the part at once, without telling another node. */
  void drop() {
    coordinator.kill();
    coordinator.waitForExit(COORDINATOR_STOP_TIMEOUT);
    for (int i = 0; i < gates.length(); i++) drop(i);
  }

  /** After the steward: otherwise they would be this node's as long as it lives. */
  private void withdrawAll() {
    try {
      for (var partition : partitions) if (partition.isOwnedHere() || partition.isReleasedHere()) partition.delete();
    } catch (TransportException cut) {
      LOG.warn("parts of '{}' have no home until the lease of this node is over", kind, cut);
    }
  }

  // ---- what the steward hears

  private void handle(PartitionEvent event, ActorContext<PartitionEvent> context) {
    switch (event) {
      case MembershipUpdate come -> {
        members = come.all;
        settledAt = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
        updatePreferredNodes();
      }
      case OwnershipUpdate changed -> onEntry(changed.entry);
      case PartitionReleased given -> {
        var partition = partitions.get(given.number);
        if (gates.get(given.number) != given.gate || partition.stage != PartitionStage.RELEASING) break;
        partition.areEntitiesClosed = true;
        reconsider(partition);
      }
      case PartitionEnded ended -> {
        if (gates.get(ended.number) != ended.gate) break;
        gates.set(ended.number, null);
        partitions.get(ended.number).stage = PartitionStage.AWAY;
        reconsider(partitions.get(ended.number));
      }
      case PartitionTick tick -> {
        partitions.forEach(this::reconsider);
        checkStore();
      }
      case LeaseLapsed lapsed -> partitions.forEach(this::onLost);
      case ReleaseAll leave -> {
        releaseAllDone = Optional.of(new CompletableFuture<>());
        context.replyWhen(leave, releaseAllDone.get());
        updatePreferredNodes();
      }
      case SettleRequest settle -> {
        settledFuture = Optional.of(new CompletableFuture<>());
        context.replyWhen(settle, settledFuture.get());
      }
    }
    if (settledFuture.isPresent() && !members.isEmpty() && partitions.stream().allMatch(PartitionState::isSettled)) {
      settledFuture.get().complete(Done.DONE);
      settledFuture = Optional.empty();
    }
    releaseAllDone.filter(one -> partitions.stream().allMatch(partition -> partition.stage == PartitionStage.AWAY))
        .ifPresent(one -> one.complete(Done.DONE));
  }

  private void updatePreferredNodes() {
    var others =
        members.stream().filter(one -> releaseAllDone.isEmpty() || !one.name().equals(nodeContext.node())).toList();
    for (var partition : partitions)
      partition.preferredNode = PartitionAssignment.preferredNode(kind, partition.number, others);
    partitions.forEach(this::reconsider);
  }

  private void checkStore() {
    if (nodeContext.clock().nanoTime() - storeCheckAt < 0) return;
    storeCheckAt = nodeContext.clock().nanoTime() + STORE_CHECK_INTERVAL.toNanos();
    entityFactory.deliverAllPending();
  }

  private void onEntry(ClusterTransport.Entry entry) {
    int number = Integer.parseInt(entry.key().substring(nodeContext.subjects().keysOfPartitions(kind).length()));
    if (number >= partitions.size()) return; // of a foreign program
    var partition = partitions.get(number);
    if (!partition.updateFrom(entry)) return;
    adaptToEntry(partition);
    reconsider(partition);
  }

  /** Adapts a slot to the table. */
  private void adaptToEntry(PartitionState partition) {
    switch (partition.stage) {
      case OWNED -> {
        if (!partition.isOwnedHere()) onLost(partition);
      }
      case RELEASING -> {
        if (partition.isReleasedHere()) onReleased(partition);
        else if (!partition.isOwnedHere()) onLost(partition);
      }
      case RELEASED -> {
        if (partition.nextOwner().isPresent()) forwardTo(partition, partition.nextOwner().get());
        // Several were home meanwhile, and may have handled what is held.
        else if (!partition.isReleasedHere()) onLost(partition);
      }
      case FORWARDING -> {
        if (!partition.isOwnedHere()) gates.get(partition.number).resumeForwarding();
      }
      default -> {}
    }
  }

  // ---- what it does

  private void reconsider(PartitionState partition) {
    if (!nodeContext.lease().isValid()) return;
    try {
      reconcile(partition);
    } catch (TransportException cut) {
      LOG.debug("part {} of '{}' waits for the network", partition.number, kind, cut);
    } catch (Throwable failure) {
      LOG.error("part {} of '{}' is tried again", partition.number, kind, failure);
    }
  }

  private void reconcile(PartitionState partition) {
    boolean wished = partition.preferredNode.filter(nodeContext.node()::equals).isPresent();
    boolean late = nodeContext.clock().nanoTime() - partition.deadline >= 0;
    if (partition.awaitsTransfer && late
        && (partition.stage == PartitionStage.OWNED || partition.stage == PartitionStage.RELEASING)) {
      partition.awaitsTransfer = false;
      gates.get(partition.number).onTransferComplete(); // the node before is too slow
    }
    if (partition.stage == PartitionStage.OWNED || partition.stage == PartitionStage.RELEASING) resolveDoubt(partition);
    switch (partition.stage) {
      case AWAY -> {
        if (wished || partition.isOwnedHere()) acquire(partition);
        else if (gates.get(partition.number) != null) onLost(partition);
      }
      case OWNED -> {
        if (!wished && mayMove()) release(partition);
      }
      case RELEASING -> {
        if (partition.areEntitiesClosed) writeFree(partition);
      }
      case RELEASED -> {
        if (partition.isTaken()) adaptToEntry(partition); // the next owner may be known for long enough now
        else if (partition.nextOwner().isPresent()) onLost(partition); // it is gone, and may have handled what is held
        else if (wished) acquire(partition);
        else if (partition.preferredNode.isEmpty() && (late || members.size() < 2) && partition.delete())
          endGate(partition); // there is nobody
      }
      case FORWARDING -> {
        if (late) endGate(partition);
        else if (wished) acquire(partition);
      }
      case ENDING -> {}
    }
  }

  private void resolveDoubt(PartitionState partition) {
    var gate = gates.get(partition.number);
    if (gate.laterEpoch() <= partition.epoch) return;
    if (partition.confirmOwner(gate.laterEpoch())) gate.open(entities.get(partition.number), !partition.awaitsTransfer);
    else onLost(partition);
  }

  private boolean mayMove() {
    if (releaseAllDone.isPresent()) return true;
    long moving =
        partitions.stream().filter(one -> one.stage == PartitionStage.RELEASING || one.stage == PartitionStage.RELEASED)
            .count();
    long owned = partitions.stream().filter(one -> one.stage == PartitionStage.OWNED).count();
    return nodeContext.clock().nanoTime() - settledAt >= 0 && moving < Math.max(1, owned / MAX_MOVING_FRACTION);
  }

  /**
   * Listens first, so that nothing is lost between the two. If it is not known whether the part is
   * this node's own, the node continues to listen.
   */
  private void acquire(PartitionState partition) {
    if (partition.isTaken()) return;
    String life = nodeContext.lease().self().id();
    partition.beginMove();
    if (gates.get(partition.number) == null) openGate(partition, life);
    else if (partition.stage != PartitionStage.AWAY) partition.awaitsTransfer = partition.willTransfer();
    if (partition.stage == PartitionStage.FORWARDING) gates.get(partition.number).reclaim();
    if (!partition.isOwnedHere() && !partition.write(false, life)) {
      partition.dropMove();
      if (partition.stage == PartitionStage.AWAY) onLost(partition);
      else adaptToEntry(partition);
      return;
    }
    var own = entityFactory.entities(partition.number); // it may fail, where the store is away
    partition.stage = PartitionStage.OWNED;
    partition.deadline = nodeContext.clock().nanoTime() + TRANSFER_TIMEOUT.toNanos();
    partition.epoch = partition.version;
    entities.set(partition.number, own);
    gates.get(partition.number).open(own, !partition.awaitsTransfer);
    partition.endMove("taken");
  }

  private void openGate(PartitionState partition, String life) {
    partition.awaitsTransfer = partition.willTransfer();
    var dispatcher =
        new InboundDispatcher<>(nodeContext.engine(), kind, nodeContext.node() + "." + life, protocol,
            nodeContext.pendingRequests(),
            partition.mayAnswer(life), () -> partition.epoch, nodeContext.blockBuilder());
    gates.set(partition.number,
        PartitionGate.hold(nodeContext, nodeContext.subjects().ofPartition(kind, partition.number), dispatcher,
            key -> PartitionAssignment.partitionOf(key, partitions.size()) == partition.number,
            entityFactory::deliverPending,
            hand -> sendTransfer(partition.number, hand)));
  }

  private void release(PartitionState partition) {
    var gate = gates.get(partition.number);
    partition.stage = PartitionStage.RELEASING;
    partition.areEntitiesClosed = false;
    partition.beginMove();
    gate.give(() -> coordinator.sendMessage(new PartitionReleased(partition.number, gate)));
  }

  private void writeFree(PartitionState partition) {
    if (partition.write(true, nodeContext.lease().self().id())) onReleased(partition);
    else adaptToEntry(partition);
  }

  private void onReleased(PartitionState partition) {
    partition.stage = PartitionStage.RELEASED;
    partition.releasedVersion = partition.version;
    // Another node may be about to join.
    partition.deadline = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
    entities.set(partition.number, null);
    reconsider(partition);
  }

  /** Waits until this node has known the next owner for a while: servers learn late of it. */
  private void forwardTo(PartitionState partition, Right next) {
    if (!nodeContext.membership().isKnownFor(nodeContext.settleTime(), next)) return;
    partition.stage = PartitionStage.FORWARDING;
    partition.deadline = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
    gates.get(partition.number).forwardTo(next.node());
    partition.endMove("given to " + next.node());
  }

  /** On the gate's thread. */
  private void sendTransfer(int number, PartitionGate.TransferMessage hand) {
    nodeContext.engine().publish(hand.toWireMessage(nodeContext.subjects().ofNode(hand.node()), kind + "." + number));
  }

  private void endGate(PartitionState partition) {
    var gate = gates.get(partition.number);
    partition.stage = PartitionStage.ENDING;
    gate.endAfterMessages(() -> coordinator.sendMessage(new PartitionEnded(partition.number, gate)));
  }

  /** It is another node's, or nobody knows. */
  private void onLost(PartitionState partition) {
    partition.losses++;
    if (partition.stage != PartitionStage.AWAY) partition.endMove("lost");
    partition.stage = PartitionStage.AWAY;
    drop(partition.number);
  }

  private void drop(int number) {
    var own = entities.getAndSet(number, null);
    if (own != null) own.kill();
    var gate = gates.getAndSet(number, null);
    if (gate != null) gate.drop();
  }
}
