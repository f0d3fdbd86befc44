package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** What a node knows and does of one part of a kind. Used by its steward's thread. */
final class PartitionState {
  /** How far the move of a part has come, to this node and away from it. */
  enum PartitionStage {
    AWAY, OWNED, GIVING, GIVEN, PASSING, ENDING
  }

  private final NodeContext around;
  private final String kind;
  private final String key; // in the table
  final int number;
  PartitionStage stage = PartitionStage.AWAY;
  Optional<Right> right = Optional.empty(); // as far as is known
  long version; // of it
  long freed; // version of the entry by which this node gave the part away
  Optional<String> wish = Optional.empty();
  boolean putAway; // its entities; the table is to be told
  boolean waits; // for what the node before hands
  long until; // of passing on, or of waiting for what is handed
  volatile long epoch; // version by which this node owns it; written by the steward, read by all
  volatile int losses; // so far; written by the steward, read by all
  private Object recorded; // the recording of the running move, or null

  PartitionState(NodeContext around, String kind, int number) {
    this.around = around;
    this.kind = kind;
    this.key = around.subjects().keyOfPart(kind, number);
    this.number = number;
  }

  void beginMove() {
    if (recorded == null) recorded = ClusterEvents.beginMove();
  }

  /** For a flight recording. */
  void endMove(String happened) {
    beginMove(); // where it is lost, it has just begun
    ClusterEvents.endMove(recorded, around.node(), kind, number, happened);
    recorded = null;
  }

  /** Another node was faster. */
  void dropMove() {
    recorded = null;
  }

  /** {@return false as soon as the part is lost: then it is the next owner that tells askers} */
  BooleanSupplier mayAnswer(String life) {
    int before = losses;
    return () -> losses == before && around.lease().isValid(life);
  }

  boolean isOurs() {
    return right.filter(one -> one.isOwnedBy(around.lease().self())).isPresent();
  }

  boolean isFreedByUs() {
    return right.filter(one -> one.free() && one.isOf(around.lease().self())).isPresent();
  }

  /** The node that took the part after this node had freed it. */
  Optional<Right> next() {
    return right.filter(one -> !one.free() && one.after() == freed);
  }

  /** Another node's, which may believe in its lease. */
  boolean isTaken() {
    return !isOurs() && right.filter(one -> !one.free()).filter(this::mayLive).isPresent();
  }

  private boolean mayLive(Right one) {
    if (around.membership().mayLive(one)) return true;
    var entry = entryOf(one);
    return entry.isEmpty() ? around.membership().mayLiveWithoutEntry(one) : isThere(one, entry);
  }

  /** Whether the previous owner has joined, and passes on the messages that it has held. */
  boolean isHanded() {
    return !isFreedByUs() && right.filter(Right::free).filter(this::isAlive).isPresent();
  }

  /** It has an owner, as far as is known without asking. */
  boolean isSettled() {
    return isOurs() || right.filter(one -> !one.free()).filter(this::isListed).isPresent();
  }

  private boolean isListed(Right one) {
    return around.membership().now().stream().anyMatch(one::isOf);
  }

  private boolean isAlive(Right one) {
    return isListed(one) || isThere(one, entryOf(one));
  }

  /** Asks the table, because news about nodes may come later than news about parts. */
  private Optional<ClusterTransport.Entry> entryOf(Right one) {
    return around.engine().get(around.subjects().keyOfNode(one.node()));
  }

  private static boolean isThere(Right one, Optional<ClusterTransport.Entry> entry) {
    return entry.flatMap(State::memberOf).filter(one::isOf).isPresent();
  }

  /** Returns false if the entry is not new. */
  boolean learn(ClusterTransport.Entry entry) {
    if (entry.version() <= version) return false;
    version = entry.version();
    right = Right.of(entry);
    return true;
  }

  /**
   * Becomes this node's own, or free. Returns false if another node was faster; then the present
   * entry has been read.
   */
  boolean write(boolean free, String life) {
    var next = new Right(around.node(), life, free, version);
    var written = right.isPresent() ? around.engine().update(key, next.bytes(), version, ClusterTransport.FOREVER)
        : around.engine().create(key, next.bytes(), ClusterTransport.FOREVER);
    if (written.isEmpty()) lookUp();
    else {
      version = written.getAsLong();
      right = Optional.of(next);
    }
    return written.isPresent();
  }

  /** Asks the table who owns the part now. */
  boolean confirms(long later) {
    lookUp();
    if (isOurs()) epoch = Math.max(version, later); // the sender knew of owners in a table that is gone
    return isOurs();
  }

  /** Its news may be late, or lost. */
  private void lookUp() {
    around.engine().get(key).ifPresentOrElse(this::learn, () -> right = Optional.empty());
  }

  /** A node that wants it next need not wait for this node. */
  boolean delete() {
    if (!around.engine().delete(key, version)) return false;
    right = Optional.empty();
    return true;
  }
}
