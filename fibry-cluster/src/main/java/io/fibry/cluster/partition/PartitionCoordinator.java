package io.fibry.cluster.partition;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.membership.PartitionRight;
import io.fibry.cluster.partition.MoveProtocol.MoveStep;
import io.fibry.cluster.partition.MoveProtocol.PartitionStage;
import io.fibry.cluster.remote.InboundDispatcher;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.pool.Entities;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;

/**
 * Takes the partitions of a kind that this node should own, and gives its other partitions away.
 *
 * <p>All nodes compute the same preferred owner of each partition. An entry of the table, the
 * right, names the actual owner. Nodes change the right by compare-and-set, and it is void when the
 * owner's lease has expired. An actor, the coordinator, changes the rights of this node until they
 * match the preferred owners. A {@link PartitionState} is the coordinator's view of one partition.
 * A {@link PartitionGate} holds, handles or forwards the messages of the partition.
 *
 * <p>{@link MoveProtocol} has the stages of a partition, and the steps from each stage.
 *
 * <p>The next two paragraphs are about a move from node A to node B.
 *
 * <p><b>No message is lost,</b> because B listens before it writes its right, and A listens until
 * it has forwarded messages for a while.
 *
 * <p><b>No message is handled twice.</b> Both nodes get a message that comes while both listen, but
 * B recognizes duplicates by their ids. A forwarded message names the version of B's right. If B
 * owns the partition by a later right when the message arrives, B drops the message, because it has
 * forgotten the ids that it knew under the earlier right. A right contains the version of the entry
 * that it replaced. If this is the version by which A freed the right, A forwards the held messages
 * to B. Otherwise another node has owned the partition in between, and may have handled these
 * messages, so A drops them. If B fails to write its right, and another node changes the entry
 * first, B drops the messages that it holds, for the same reason. A node that loses its lease drops
 * its partitions.
 *
 * <p>Fields whose comments name no thread are used only by the coordinator's thread.
 */
public final class PartitionCoordinator<M> {
  private static final Logger LOG = SafeLogger.of(Cluster.class);
  private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(5); // for the previous owner's held messages
  private static final Duration OWNERS_TIMEOUT = Duration.ofSeconds(10); // for each partition to get an owner
  private static final Duration COORDINATOR_STOP_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration STORE_CHECK_INTERVAL = Duration.ofMinutes(1); // of checks for pending messages
  private static final int MOVING_DIVISOR = 8; // at most an eighth of the owned partitions leaves at once
  // header of a forwarded message: the kind and the number of its partition
  public static final String PARTITION_HEADER = "Fb-Part";
  static final String TRANSFER_COMPLETE_HEADER = "Fb-All"; // header of the message after the last held message

  private sealed interface PartitionEvent {}

  private record MembershipUpdate(List<Member> members) implements PartitionEvent {}

  private record OwnershipUpdate(ClusterTransport.Entry entry) implements PartitionEvent {}

  private record PartitionReleased(int number, PartitionGate<?> gate) implements PartitionEvent {}

  private record PartitionEnded(int number, PartitionGate<?> gate) implements PartitionEvent {}

  private record PartitionTick() implements PartitionEvent {}

  private record LeaseLapsed() implements PartitionEvent {}

  private record ReleaseAll() implements PartitionEvent, Request<ReleaseAll, Done> {}

  private record AwaitOwners() implements PartitionEvent, Request<AwaitOwners, Done> {}

  private final NodeContext nodeContext;
  private final String kind;
  private final Protocol<M> protocol;
  private final HostedKind<M> entityFactory;
  private final AtomicReferenceArray<PartitionGate<M>> gates; // null if this node does not listen; read by all threads
  private final AtomicReferenceArray<Entities<String, M>> entities; // null unless owned here; read by all threads
  private final Actor<PartitionEvent> coordinator;
  private final List<PartitionState> partitions;
  private final Map<String, PartitionState> partitionsByKey; // by the key of the entry in the table
  private boolean hasWarned; // about an entry of the table that belongs to no partition
  private List<Member> members = List.of();
  private long mayMoveAt; // from when on partitions may move, in nanoseconds of the clock
  private long storeCheckAt; // when the store is checked next, in nanoseconds of the clock
  private Optional<CompletableFuture<Done>> ownersFuture = Optional.empty(); // empty if no caller waits
  private Optional<CompletableFuture<Done>> releaseAllDone = Optional.empty(); // empty if this node stays a host

  public PartitionCoordinator(NodeContext nodeContext, String kind, int partitions, Protocol<M> protocol,
      HostedKind<M> entityFactory) {
    this.nodeContext = nodeContext;
    this.kind = kind;
    this.protocol = protocol;
    this.entityFactory = entityFactory;
    this.gates = new AtomicReferenceArray<>(partitions);
    this.entities = new AtomicReferenceArray<>(partitions);
    this.partitions = IntStream.range(0, partitions).mapToObj(i -> new PartitionState(nodeContext, kind, i)).toList();
    this.partitionsByKey = this.partitions.stream().collect(Collectors.toUnmodifiableMap(p -> p.key, p -> p));
    this.mayMoveAt = nodeContext.clock().nanoTime();
    this.storeCheckAt = mayMoveAt + STORE_CHECK_INTERVAL.toNanos();
    this.coordinator = InternalActors.newEventBuilder(nodeContext.scope()).newActor(this::handle);
  }

  /** Begins to take partitions. Returns when each has an owner, or after {@code OWNERS_TIMEOUT}. */
  public void begin() {
    boolean begun = false;
    try {
      String keys = nodeContext.subjects().partitionKeyPrefix(kind);
      coordinator
          .closeOnExit(
              nodeContext.transport().watch(keys, entry -> coordinator.sendMessage(new OwnershipUpdate(entry))));
      coordinator.closeOnExit(
          nodeContext.membership().observableMembers()
              .subscribe(members -> coordinator.sendMessage(new MembershipUpdate(members))));
      coordinator.closeOnExit(nodeContext.lease().onExpired(() -> coordinator.sendMessage(new LeaseLapsed())));
      coordinator.sendMessageEvery(new PartitionTick(), TICK);
      nodeContext.lease().setHosted(kind, true);
      awaitOwners();
      begun = true;
    } finally {
      if (!begun) dropAll();
    }
  }

  /** Waits until each partition has an owner, so that the first messages arrive at once. */
  private void awaitOwners() {
    try {
      coordinator.sendMessageReturn(new AwaitOwners()).orTimeout(OWNERS_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (RuntimeException failure) {
      LOG.warn("not all partitions of '{}' have an owner so far", kind, failure);
    }
  }

  // ---- called by any thread

  public HostingStats stats() {
    var localEntities = IntStream.range(0, entities.length()).mapToObj(entities::get).filter(Objects::nonNull).toList();
    return new HostingStats(partitions.size(), localEntities.size(),
        localEntities.stream().mapToLong(Entities::size).sum());
  }

  /** Called on a thread of the transport, with a message that the previous owner forwards. */
  public void receiveTransfer(int number, WireMessage wire) {
    if (number < 0 || number >= gates.length()) return;
    var gate = gates.get(number);
    if (gate == null) return;
    if (wire.header(TRANSFER_COMPLETE_HEADER).isPresent()) gate.onTransferComplete(Destination.epochOf(wire));
    else gate.receiveTransfer(wire);
  }

  /**
   * Gives all partitions to other nodes, and waits until these nodes own them. After {@code limit},
   * drops the partitions that are left.
   */
  public void releaseAll(Duration limit) {
    try {
      nodeContext.lease().setHosted(kind, false);
      coordinator.sendMessageReturn(new ReleaseAll()).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException failure) {
      LOG.warn("this node drops partitions of '{}' before other nodes own them", kind, failure);
    } finally {
      drop();
      withdrawAll();
    }
  }

  private void dropAll() {
    drop();
    withdrawAll();
    try {
      nodeContext.lease().setHosted(kind, false);
    } catch (RuntimeException failure) {
      LOG.warn("other nodes may still choose this node as a host of '{}'", kind, failure);
    }
  }

  /** Ends the coordinator, and drops all partitions at once, without notice to other nodes. */
  public void drop() {
    coordinator.kill();
    coordinator.waitForExit(COORDINATOR_STOP_TIMEOUT);
    for (int i = 0; i < gates.length(); i++) drop(i);
  }

  /**
   * Deletes the rights of this node. Otherwise no other node would get these partitions as long as
   * this node lives. Called after the coordinator has ended.
   */
  private void withdrawAll() {
    try {
      for (var partition : partitions) if (partition.isOwnedHere() || partition.isReleasedHere()) partition.delete();
    } catch (TransportException failure) {
      LOG.warn("partitions of '{}' have no owner until the lease of this node expires", kind, failure);
    }
  }

  // ---- events of the coordinator

  private void handle(PartitionEvent event, ActorContext<PartitionEvent> context) {
    switch (event) {
      case MembershipUpdate update -> {
        members = update.members;
        mayMoveAt = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
        updatePreferredNodes();
      }
      case OwnershipUpdate update -> onEntry(update.entry);
      case PartitionReleased release -> {
        var partition = partitions.get(release.number);
        if (gates.get(release.number) != release.gate || partition.stage() != PartitionStage.RELEASING) break;
        partition.advance(MoveStep.CLOSE);
        tryReconcile(partition);
      }
      case PartitionEnded end -> {
        if (gates.get(end.number) != end.gate) break;
        gates.set(end.number, null);
        partitions.get(end.number).advance(MoveStep.LEAVE);
        tryReconcile(partitions.get(end.number));
      }
      case PartitionTick tick -> {
        partitions.forEach(this::tryReconcile);
        checkStore();
      }
      case LeaseLapsed lapse -> partitions.forEach(this::onLost);
      case ReleaseAll request -> {
        releaseAllDone = Optional.of(new CompletableFuture<>());
        context.replyWhen(request, releaseAllDone.get());
        updatePreferredNodes();
      }
      case AwaitOwners request -> {
        ownersFuture = Optional.of(new CompletableFuture<>());
        context.replyWhen(request, ownersFuture.get());
      }
    }
    if (ownersFuture.isPresent() && !members.isEmpty() && partitions.stream().allMatch(PartitionState::hasOwner)) {
      ownersFuture.get().complete(Done.DONE);
      ownersFuture = Optional.empty();
    }
    releaseAllDone.filter(future -> partitions.stream().allMatch(partition -> partition.stage() == PartitionStage.AWAY))
        .ifPresent(future -> future.complete(Done.DONE));
  }

  private void updatePreferredNodes() {
    var candidates = members.stream()
        .filter(member -> releaseAllDone.isEmpty() || !member.name().equals(nodeContext.node())).toList();
    for (var partition : partitions)
      partition.preferredNode = PartitionAssignment.preferredNode(kind, partition.number, candidates);
    partitions.forEach(this::tryReconcile);
  }

  private void checkStore() {
    if (nodeContext.clock().nanoTime() - storeCheckAt < 0) return;
    storeCheckAt = nodeContext.clock().nanoTime() + STORE_CHECK_INTERVAL.toNanos();
    entityFactory.deliverAllPending();
  }

  private void onEntry(ClusterTransport.Entry entry) {
    var partition = partitionsByKey.get(entry.key());
    if (partition == null) {
      if (entry.value().isPresent()) warnOfForeignEntry(entry.key());
      return;
    }
    if (!partition.updateFrom(entry)) return;
    adaptToEntry(partition);
    tryReconcile(partition);
  }

  private void warnOfForeignEntry(String key) {
    if (hasWarned) return;
    hasWarned = true;
    LOG.warn("the table has an entry '{}', and '{}' has only partitions 0 to {}; node '{}' ignores such entries; "
        + "delete them", Lines.escaped(key), kind, partitions.size() - 1, nodeContext.node());
  }

  /** Adapts the stage of a partition to its entry in the table. */
  private void adaptToEntry(PartitionState partition) {
    switch (partition.stage()) {
      case OWNED, RELEASING -> {
        if (!partition.isOwnedHere()) onLost(partition);
      }
      case CLOSED -> {
        if (partition.isReleasedHere()) onReleased(partition);
        else if (!partition.isOwnedHere()) onLost(partition);
      }
      case RELEASED -> {
        if (partition.nextOwner().isPresent()) forwardTo(partition, partition.nextOwner().get());
        // Another node has owned the partition in between, and may have handled the held messages.
        else if (!partition.isReleasedHere()) onLost(partition);
      }
      case FORWARDING -> {
        if (!partition.isOwnedHere()) gates.get(partition.number).resumeForwarding();
      }
      case AWAY -> {
        // This node failed to write its right, and another owner may have handled the messages.
        if (gates.get(partition.number) != null && !partition.isOwnedHere()) onLost(partition);
      }
      case ENDING -> {}
    }
  }

  // ---- actions of the coordinator

  /** Reconciles a partition, and logs a failure. Does nothing if the lease is not valid. */
  private void tryReconcile(PartitionState partition) {
    if (!nodeContext.lease().isValid()) return;
    try {
      reconcile(partition);
    } catch (TransportException failure) {
      LOG.debug("partition {} of '{}' waits for the network", partition.number, kind, failure);
    } catch (Throwable failure) {
      LOG.error("a change of partition {} of '{}' failed, and is tried again", partition.number, kind, failure);
    }
  }

  /** Takes the next step by which the rights of this node match the preferred owner. */
  private void reconcile(PartitionState partition) {
    boolean isPreferred = partition.preferredNode.filter(nodeContext.node()::equals).isPresent();
    boolean isOverdue = nodeContext.clock().nanoTime() - partition.deadline >= 0;
    if (partition.awaitsTransfer && isOverdue
        && (partition.stage() == PartitionStage.OWNED || partition.stage() == PartitionStage.RELEASING)) {
      partition.awaitsTransfer = false;
      gates.get(partition.number).onTransferComplete(partition.epoch); // the previous owner is too slow
    }
    if (partition.stage() == PartitionStage.OWNED || partition.stage() == PartitionStage.RELEASING)
      checkLaterEpoch(partition);
    switch (partition.stage()) {
      case AWAY -> {
        if (isPreferred || partition.isOwnedHere()) acquire(partition);
        else if (gates.get(partition.number) != null) onLost(partition);
      }
      case OWNED -> {
        if (!isPreferred && mayMove()) release(partition);
      }
      case RELEASING, ENDING -> {}
      case CLOSED -> freeRight(partition);
      case RELEASED -> {
        if (partition.isOwnedElsewhere()) adaptToEntry(partition); // forwards, if the owner is known for long enough
        else if (partition.nextOwner().isPresent()) onLost(partition); // a dead owner may have handled held messages
        else if (isPreferred) acquire(partition);
        else if (partition.preferredNode.isEmpty() && (isOverdue || members.size() < 2) && partition.delete())
          endGate(partition); // no other node can take it
      }
      case FORWARDING -> {
        if (isOverdue) endGate(partition);
        else if (isPreferred) acquire(partition);
      }
    }
  }

  private void checkLaterEpoch(PartitionState partition) {
    var gate = gates.get(partition.number);
    if (gate.laterEpoch() <= partition.epoch) return;
    if (partition.confirmOwnership(gate.laterEpoch()))
      gate.open(entities.get(partition.number), !partition.awaitsTransfer);
    else onLost(partition);
  }

  private boolean mayMove() {
    if (releaseAllDone.isPresent()) return true;
    long moving = partitions.stream().map(partition -> partition.stage())
        .filter(EnumSet.of(PartitionStage.RELEASING, PartitionStage.CLOSED, PartitionStage.RELEASED)::contains).count();
    long owned = partitions.stream().filter(partition -> partition.stage() == PartitionStage.OWNED).count();
    return nodeContext.clock().nanoTime() - mayMoveAt >= 0 && moving < Math.max(1, owned / MOVING_DIVISOR);
  }

  /**
   * Takes a partition. Listens before it writes the right, so that no message is lost in between.
   * If the write fails, it is not known whether the table has the right. The node then continues to
   * listen, and tries again at the next tick.
   */
  private void acquire(PartitionState partition) {
    if (partition.isOwnedElsewhere()) return;
    String life = nodeContext.lease().self().id();
    partition.beginMove();
    if (gates.get(partition.number) == null) openGate(partition, life);
    else if (partition.stage() != PartitionStage.AWAY) partition.awaitsTransfer = partition.expectsTransfer();
    if (partition.stage() == PartitionStage.FORWARDING) gates.get(partition.number).reclaim();
    if (!partition.isOwnedHere() && !partition.write(false, life)) {
      partition.forgetMove();
      if (partition.stage() == PartitionStage.AWAY) onLost(partition);
      else adaptToEntry(partition);
      return;
    }
    var ownedEntities = entityFactory.entities(partition.number); // fails if the store is not available
    partition.advance(MoveStep.TAKE);
    partition.deadline = nodeContext.clock().nanoTime() + TRANSFER_TIMEOUT.toNanos();
    partition.epoch = partition.version;
    entities.set(partition.number, ownedEntities);
    gates.get(partition.number).open(ownedEntities, !partition.awaitsTransfer);
    partition.endMove("taken");
  }

  private void openGate(PartitionState partition, String life) {
    partition.awaitsTransfer = partition.expectsTransfer();
    var dispatcher =
        new InboundDispatcher<>(nodeContext.transport(), kind, nodeContext.node() + "." + life, protocol,
            nodeContext.requests(),
            partition.mayAnswer(life), () -> partition.epoch, nodeContext.blockBuilder(),
            nodeContext.newAnswerExecutor());
    gates.set(partition.number,
        PartitionGate.openHolding(nodeContext, "partition " + partition.number + " of '" + kind + "'",
            nodeContext.subjects().ofPartition(kind, partition.number), dispatcher,
            key -> PartitionAssignment.partitionOf(key, partitions.size()) == partition.number,
            entityFactory::deliverPending,
            message -> sendTransfer(partition.number, message)));
  }

  private void release(PartitionState partition) {
    var gate = gates.get(partition.number);
    partition.advance(MoveStep.RELEASE);
    partition.beginMove();
    gate.releaseWhenHandled(() -> coordinator.sendMessage(new PartitionReleased(partition.number, gate)));
  }

  private void freeRight(PartitionState partition) {
    if (partition.write(true, nodeContext.lease().self().id())) onReleased(partition);
    else adaptToEntry(partition);
  }

  private void onReleased(PartitionState partition) {
    partition.advance(MoveStep.FREE);
    partition.releasedVersion = partition.version;
    // If no other node can take the partition, its right is deleted after this time.
    partition.deadline = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
    entities.set(partition.number, null);
    tryReconcile(partition);
  }

  /**
   * Forwards messages to the next owner, once this node has known this owner for the settle time.
   * Until then, some servers of the network may not know that the next owner listens.
   */
  private void forwardTo(PartitionState partition, PartitionRight next) {
    if (!nodeContext.membership().isKnownFor(nodeContext.settleTime(), next)) return;
    partition.advance(MoveStep.FORWARD);
    partition.deadline = nodeContext.clock().nanoTime() + nodeContext.settleTime().toNanos();
    gates.get(partition.number).forwardTo(next.node(), partition.version);
    partition.endMove("given to " + next.node());
  }

  /** Called on the gate's thread. */
  private void sendTransfer(int number, PartitionGate.TransferMessage message) {
    String subject = nodeContext.subjects().ofNode(message.node());
    nodeContext.transport().publish(message.toWireMessage(subject, kind + "." + number));
  }

  private void endGate(PartitionState partition) {
    var gate = gates.get(partition.number);
    partition.advance(MoveStep.END);
    gate.endAfterMessages(() -> coordinator.sendMessage(new PartitionEnded(partition.number, gate)));
  }

  /** Drops a partition, because this node does not own it any more, or its lease has expired. */
  private void onLost(PartitionState partition) {
    partition.lossCount++;
    if (partition.stage() != PartitionStage.AWAY) partition.endMove("lost");
    partition.advance(MoveStep.LOSE);
    drop(partition.number);
  }

  private void drop(int number) {
    var ownedEntities = entities.getAndSet(number, null);
    if (ownedEntities != null) ownedEntities.kill();
    var gate = gates.getAndSet(number, null);
    if (gate != null) gate.drop();
  }
}
