package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** What a node knows and does of one part of a kind. Used by its steward's thread. */
final class PartitionState {
  /** How far the move of a part has come, to this node and away from it. */
  enum PartitionStage {
    AWAY, OWNED, RELEASING, RELEASED, FORWARDING, ENDING
  }

  private final NodeContext nodeContext;
  private final String kind;
  private final String key; // in the table
  final int number;
  PartitionStage stage = PartitionStage.AWAY;
  Optional<Right> ownership = Optional.empty(); // as far as is known
  long version; // of it
  long releasedVersion; // version of the entry by which this node gave the part away
  Optional<String> preferredNode = Optional.empty();
  boolean areEntitiesClosed; // its entities; the table is to be told
  boolean awaitsTransfer; // for what the node before hands
  long deadline; // of passing on, or of waiting for what is handed
  volatile long epoch; // version by which this node owns it; written by the steward, read by all
  volatile int losses; // so far; written by the steward, read by all
  private Object jfrEvent; // the recording of the running move, or null

  PartitionState(NodeContext nodeContext, String kind, int number) {
    this.nodeContext = nodeContext;
    this.kind = kind;
    this.key = nodeContext.subjects().keyOfPartition(kind, number);
    this.number = number;
  }

  void beginMove() {
    if (jfrEvent == null) jfrEvent = ClusterEvents.beginMove();
  }

  /** For a flight recording. */
  void endMove(String happened) {
    beginMove(); // where it is lost, it has just begun
    ClusterEvents.endMove(jfrEvent, nodeContext.node(), kind, number, happened);
    jfrEvent = null;
  }

  /** Another node was faster. */
  void dropMove() {
    jfrEvent = null;
  }

  /** {@return false as soon as the part is lost: then it is the next owner that tells askers} */
  BooleanSupplier mayAnswer(String life) {
    int before = losses;
    return () -> losses == before && nodeContext.lease().isValid(life);
  }

  boolean isOwnedHere() {
    return ownership.filter(one -> one.isOwnedBy(nodeContext.lease().self())).isPresent();
  }

  boolean isReleasedHere() {
    return ownership.filter(one -> one.free() && one.isOf(nodeContext.lease().self())).isPresent();
  }

  /** The node that took the part after this node had freed it. */
  Optional<Right> nextOwner() {
    return ownership.filter(one -> !one.free() && one.after() == releasedVersion);
  }

  /** Another node's, which may believe in its lease. */
  boolean isTaken() {
    return !isOwnedHere() && ownership.filter(one -> !one.free()).filter(this::mayLive).isPresent();
  }

  private boolean mayLive(Right one) {
    if (nodeContext.membership().mayLive(one)) return true;
    var entry = entryOf(one);
    return entry.isEmpty() ? nodeContext.membership().mayLiveWithoutEntry(one) : isPresent(one, entry);
  }

  /** Whether the previous owner has joined, and passes on the messages that it has held. */
  boolean willTransfer() {
    return !isReleasedHere() && ownership.filter(Right::free).filter(this::isAlive).isPresent();
  }

  /** It has an owner, as far as is known without asking. */
  boolean isSettled() {
    return isOwnedHere() || ownership.filter(one -> !one.free()).filter(this::isListed).isPresent();
  }

  private boolean isListed(Right one) {
    return nodeContext.membership().members().stream().anyMatch(one::isOf);
  }

  private boolean isAlive(Right one) {
    return isListed(one) || isPresent(one, entryOf(one));
  }

  /** Asks the table, because news about nodes may come later than news about parts. */
  private Optional<ClusterTransport.Entry> entryOf(Right one) {
    return nodeContext.engine().get(nodeContext.subjects().keyOfNode(one.node()));
  }

  private static boolean isPresent(Right one, Optional<ClusterTransport.Entry> entry) {
    return entry.flatMap(State::memberOf).filter(one::isOf).isPresent();
  }

  /** Returns false if the entry is not new. */
  boolean updateFrom(ClusterTransport.Entry entry) {
    if (entry.version() <= version) return false;
    version = entry.version();
    ownership = Right.of(entry);
    return true;
  }

  /**
   * Becomes this node's own, or free. Returns false if another node was faster; then the present
   * entry has been read.
   */
  boolean write(boolean free, String life) {
    var next = new Right(nodeContext.node(), life, free, version);
    var written =
        ownership.isPresent() ? nodeContext.engine().update(key, next.bytes(), version, ClusterTransport.FOREVER)
            : nodeContext.engine().create(key, next.bytes(), ClusterTransport.FOREVER);
    if (written.isEmpty()) reload();
    else {
      version = written.getAsLong();
      ownership = Optional.of(next);
    }
    return written.isPresent();
  }

  /** Asks the table who owns the part now. */
  boolean confirmOwner(long later) {
    reload();
    if (isOwnedHere()) epoch = Math.max(version, later); // the sender knew of owners in a table that is gone
    return isOwnedHere();
  }

  /** Its news may be late, or lost. */
  private void reload() {
    nodeContext.engine().get(key).ifPresentOrElse(this::updateFrom, () -> ownership = Optional.empty());
  }

  /** A node that wants it next need not wait for this node. */
  boolean delete() {
    if (!nodeContext.engine().delete(key, version)) return false;
    ownership = Optional.empty();
    return true;
  }
}
