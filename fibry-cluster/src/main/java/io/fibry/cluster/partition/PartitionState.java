package io.fibry.cluster.partition;

import io.fibry.cluster.membership.ClusterEvents;
import io.fibry.cluster.membership.NodeState;
import io.fibry.cluster.membership.PartitionRight;
import io.fibry.cluster.partition.MoveProtocol.MoveStep;
import io.fibry.cluster.partition.MoveProtocol.PartitionStage;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.spi.ClusterTransport;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The view that a node has of one partition of a kind. Used by the thread of the coordinator, an
 * actor of {@link PartitionCoordinator}.
 */
final class PartitionState {
  private final NodeContext nodeContext;
  private final String kind;
  final String key; // of the entry in the table
  final int number;
  private PartitionStage stage = PartitionStage.AWAY;
  Optional<PartitionRight> right = Optional.empty(); // the last known right, or empty
  long version; // of the last known entry
  long releasedVersion; // version of the entry by which this node freed the right
  Optional<String> preferredNode = Optional.empty();
  boolean awaitsTransfer; // the previous owner may still forward held messages
  long deadline; // of the current stage, in nanoseconds of the clock
  volatile long epoch; // version by which this node owns the partition; written by the coordinator, read by all
  volatile int lossCount; // how often this node lost the partition; written by the coordinator, read by all
  private Object jfrEvent; // event of the current move; null without a move, or if JFR does not record it

  PartitionState(NodeContext nodeContext, String kind, int number) {
    this.nodeContext = nodeContext;
    this.kind = kind;
    this.key = nodeContext.subjects().keyOfPartition(kind, number);
    this.number = number;
  }

  PartitionStage stage() {
    return stage;
  }

  void advance(MoveStep step) {
    stage = stage.after(step);
  }

  void beginMove() {
    if (jfrEvent == null) jfrEvent = ClusterEvents.beginMove();
  }

  /** Records the end of a move. */
  void endMove(String result) {
    beginMove(); // if the partition is lost, perhaps no move has begun
    ClusterEvents.endMove(jfrEvent, nodeContext.node(), kind, number, result);
    jfrEvent = null;
  }

  /** Forgets the move without a JFR event, because another node has changed the entry first. */
  void forgetMove() {
    jfrEvent = null;
  }

  /**
   * {@return a condition that becomes false when this node loses the partition, because then the
   * next owner answers}
   */
  BooleanSupplier mayAnswer(String life) {
    int lossesBefore = lossCount;
    return () -> lossCount == lossesBefore && nodeContext.lease().isValid(life);
  }

  boolean isOwnedHere() {
    return right.filter(right -> right.isOwnedBy(nodeContext.lease().self())).isPresent();
  }

  boolean isReleasedHere() {
    return right.filter(right -> right.free() && right.isOf(nodeContext.lease().self())).isPresent();
  }

  /**
   * Returns the right of the node that took the partition from this node; empty if there is none.
   */
  Optional<PartitionRight> nextOwner() {
    return right.filter(right -> !right.free() && right.after() == releasedVersion);
  }

  /** Returns whether another node owns the partition, and its lease may still be valid. */
  boolean isOwnedElsewhere() {
    return !isOwnedHere() && right.filter(right -> !right.free()).filter(this::mayLive).isPresent();
  }

  private boolean mayLive(PartitionRight right) {
    if (nodeContext.membership().mayHaveValidLease(right)) return true;
    var entry = entryOf(right);
    return entry.isEmpty() ? nodeContext.membership().mayLiveWithoutEntry(right) : isAliveIn(entry, right);
  }

  /** Returns whether the previous owner is alive, and will forward the messages that it holds. */
  boolean expectsTransfer() {
    return !isReleasedHere() && right.filter(PartitionRight::free).filter(this::isAlive).isPresent();
  }

  /** Returns whether the partition has an owner, as far as this node knows without a query. */
  boolean hasOwner() {
    return isOwnedHere() || right.filter(right -> !right.free()).filter(this::isListed).isPresent();
  }

  private boolean isListed(PartitionRight right) {
    return nodeContext.membership().members().stream().anyMatch(right::isOf);
  }

  private boolean isAlive(PartitionRight right) {
    return isListed(right) || isAliveIn(entryOf(right), right);
  }

  /**
   * Reads the entry of the owner's node, because changes of nodes may arrive here later than
   * changes of partitions.
   */
  private Optional<ClusterTransport.Entry> entryOf(PartitionRight right) {
    return nodeContext.transport().get(nodeContext.subjects().keyOfNode(right.node()));
  }

  private static boolean isAliveIn(Optional<ClusterTransport.Entry> entry, PartitionRight right) {
    return entry.flatMap(NodeState::memberOf).filter(right::isOf).isPresent();
  }

  /** Updates this view from an entry of the table. Returns false if the entry is not newer. */
  boolean updateFrom(ClusterTransport.Entry entry) {
    if (entry.version() <= version) return false;
    version = entry.version();
    right = PartitionRight.of(entry);
    return true;
  }

  /**
   * Writes that this node owns the partition, or that the partition is free. Returns false if
   * another node has changed the entry first. This object then contains the current entry.
   */
  boolean write(boolean isFree, String life) {
    var next = new PartitionRight(nodeContext.node(), life, isFree, version);
    var written =
        right.isPresent() ? nodeContext.transport().update(key, next.bytes(), version, ClusterTransport.FOREVER)
            : nodeContext.transport().create(key, next.bytes(), ClusterTransport.FOREVER);
    if (written.isEmpty()) reload();
    else {
      version = written.getAsLong();
      right = Optional.of(next);
    }
    return written.isPresent();
  }

  /**
   * Reads from the table whether this node still owns the partition. If so, the epoch of the
   * partition becomes at least {@code laterEpoch}.
   */
  boolean confirmOwnership(long laterEpoch) {
    reload();
    if (isOwnedHere()) epoch = Math.max(version, laterEpoch); // laterEpoch is larger if the table was lost
    return isOwnedHere();
  }

  /** Reads the entry from the table, because the watch may be late, or miss a change. */
  private void reload() {
    nodeContext.transport().get(key).ifPresentOrElse(this::updateFrom, () -> right = Optional.empty());
  }

  /**
   * Deletes the entry, so that the next owner need not wait for the lease of this node to expire.
   * Returns false if the entry has changed.
   */
  boolean delete() {
    if (!nodeContext.transport().delete(key, version)) return false;
    right = Optional.empty();
    return true;
  }
}
