package io.fibry.engine.scope;

import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals.Worst;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the actor of each name whose mailbox has grown most in about five minutes, and still grows.
 * Guarded by the monitor of the totals.
 *
 * <p>Once a minute, a reader remembers how many messages wait for each actor. The growth of an
 * actor is the difference between its queue now and five minutes ago. An actor is a candidate only
 * if its queue is also longer than one to two minutes ago. So a full mailbox and a mailbox that
 * drains are no candidates. The actor that was found last remains unless another has grown by over
 * a tenth more ({@link NamedMaximum}).
 *
 * <p>At the limit of the count, it is unknown whether a queue grows. Such a queue counts as growing
 * by {@link #MIN_NAMED} at least.
 *
 * <p>Actors with equal names have their sum. If actors are read less than once a minute, the growth
 * is that of a longer time.
 *
 * <p>The snapshots have at most {@link #MAX_REMEMBERED} names each, so their memory is bounded.
 */
final class GrowingQueues {
  /** Queues with fewer messages, and smaller growth, are normal bursts. */
  static final int MIN_NAMED = 100;

  private static final long SNAPSHOT_NANOS = 60L * 1_000_000_000;
  private static final int SNAPSHOTS = 6; // the oldest is five to six minutes old
  private static final int MAX_REMEMBERED = 10_000;

  private final ActorNames names;
  private final Deque<Map<String, Long>> snapshots = new ArrayDeque<>(); // oldest first
  private final List<NamedMaximum> growths; // by the index of the name, as the next field
  private List<Optional<Worst>> worst; // as the last `update` has found it
  private Map<String, Long> lengths = Map.of(); // of the actors that this reader has added
  private Set<String> actorsAtLimit = Set.of(); // among them, actors whose queue is at the limit of the count
  private Map<String, Long> recent = Map.of(); // the snapshot before the newest, one to two minutes old
  private long snapshotNanos; // of the newest snapshot

  GrowingQueues(ActorNames names) {
    this.names = names;
    this.growths = names.list().stream().map(name -> new NamedMaximum(MIN_NAMED, NamedMaximum.TENTH)).toList();
    this.worst = names.list().stream().map(name -> Optional.<Worst>empty()).toList();
  }

  /** Begins a read. An earlier reader may have failed after it added some actors. */
  void beginRead() {
    lengths = new HashMap<>();
    actorsAtLimit = new HashSet<>();
  }

  /**
   * Adds the queue of a living actor. A reader adds all before {@link #update}.
   *
   * @param length the number of messages, counted up to {@link ScopeDump#MAX_COUNTED}
   */
  void add(String actor, long length) {
    if (length == 0 || lengths.size() >= MAX_REMEMBERED && !lengths.containsKey(actor)) return;
    lengths.merge(actor, length, Long::sum);
    if (length >= ScopeDump.MAX_COUNTED) actorsAtLimit.add(actor);
  }

  /**
   * Finds the actors among the added actors. The first call only remembers their queues.
   *
   * @param nanos the time by the clock of the scope
   */
  void update(long nanos) {
    if (snapshots.isEmpty()) remember(nanos);
    for (var maximum : growths) maximum.beginRead();
    for (var actor : lengths.keySet()) growths.get(names.indexOf(actor)).add(actor, growth(actor));
    worst = growths.stream().map(NamedMaximum::update).toList();
    if (nanos - snapshotNanos >= SNAPSHOT_NANOS) remember(nanos);
    lengths = Map.of();
    actorsAtLimit = Set.of();
  }

  private void remember(long nanos) {
    recent = snapshots.isEmpty() ? lengths : snapshots.getLast();
    snapshots.add(lengths);
    if (snapshots.size() > SNAPSHOTS) snapshots.remove();
    snapshotNanos = nanos;
  }

  /** Returns by how many messages the queue has grown. Returns 0 if it does not grow now. */
  private long growth(String actor) {
    return Math.max(countedGrowth(actor), actorsAtLimit.contains(actor) ? MIN_NAMED : 0);
  }

  /** Returns 0 also if so many actors had messages that the growth is unknown. */
  private long countedGrowth(String actor) {
    long length = lengths.getOrDefault(actor, 0L);
    if (length <= lengthIn(recent, actor)) return 0;
    return Math.max(0, length - lengthIn(snapshots.getFirst(), actor));
  }

  private static long lengthIn(Map<String, Long> snapshot, String actor) {
    return snapshot.getOrDefault(actor, snapshot.size() < MAX_REMEMBERED ? 0 : Long.MAX_VALUE);
  }

  /** Returns the actor of a name, as the last {@link #update} has found it. */
  Optional<Worst> worst(int name) {
    return worst.get(name);
  }
}
