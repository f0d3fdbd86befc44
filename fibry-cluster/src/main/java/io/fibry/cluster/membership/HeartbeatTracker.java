package io.fibry.cluster.membership;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Records when this node last saw a heartbeat of each life of a node, by its monotonic clock. The
 * lease of a life may be valid until a whole lease after that heartbeat, unless the node's entry in
 * the table says that the life is over. A missing entry does not prove that: the server that stores
 * the entries may have dropped it because the clock of the server was set. A life of which this
 * node saw no heartbeat counts as seen when this object is first asked about it.
 *
 * <p>Thread-safe: each change is one atomic operation on the map. A life that is over stays over.
 * The lease of a life whose entry is missing does not begin again, even if an older heartbeat
 * arrives late.
 */
public final class HeartbeatTracker {
  private static final int REMEMBERED_LEASES = 10; // after that many leases, a life is forgotten

  private enum LifeStatus {
    SEEN, ENTRY_MISSING, OVER // a status is never replaced by an earlier one
  }

  private record Heartbeat(long seenAt, long lease, LifeStatus status) {
    /**
     * Returns this heartbeat with the later time of the two. Threads read the clock before they
     * change the map, so another thread may have recorded a later time meanwhile.
     */
    Heartbeat after(Heartbeat previous) {
      return seenAt - previous.seenAt >= 0 ? this : new Heartbeat(previous.seenAt, lease, status);
    }
  }

  private final Scheduler clock;
  private final long lease; // in nanoseconds; for lives whose entry has no lease
  private final Map<String, Heartbeat> heartbeats = new ConcurrentHashMap<>(); // by life

  public HeartbeatTracker(Scheduler clock, Duration lease) {
    this.clock = clock;
    this.lease = nanos(lease);
  }

  /** Returns a time in nanoseconds, at most 292 years. */
  private static long nanos(Duration time) {
    return TimeUnit.NANOSECONDS.convert(time);
  }

  /**
   * Records the heartbeat, or the end, of a life that its entry reports. The heartbeat counts from
   * now. The entry was written earlier, so the lease that this node assumes ends too late rather
   * than too early.
   */
  void onEntry(NodeState state) {
    if (state.isOver()) onLifeEnded(state.member().id());
    else update(state.member().id(), state.lease().map(HeartbeatTracker::nanos).orElse(lease), LifeStatus.SEEN);
  }

  /** Records that a life was ended, by its own node or by a node that waited for its lease. */
  void onLifeEnded(String life) {
    update(life, lease, LifeStatus.OVER);
  }

  /**
   * Records that the entry of a life is missing now. This node may have missed the last heartbeat,
   * so a whole lease begins when the entry is missing for the first time. Later calls do not extend
   * it.
   *
   * @return whether the lease of the life may still be valid
   */
  boolean mayLiveWithoutEntry(String life) {
    var firstMiss = new Heartbeat(clock.nanoTime(), lease, LifeStatus.ENTRY_MISSING);
    heartbeats.compute(life, (key, previous) -> previous == null ? firstMiss
        : previous.status != LifeStatus.SEEN ? previous
            : new Heartbeat(firstMiss.seenAt, previous.lease, LifeStatus.ENTRY_MISSING).after(previous));
    return mayHaveValidLease(life);
  }

  private void update(String life, long leaseNanos, LifeStatus status) {
    var heartbeat = new Heartbeat(clock.nanoTime(), leaseNanos, status);
    heartbeats.merge(life, heartbeat,
        (previous, next) -> next.status.compareTo(previous.status) < 0 || previous.status == LifeStatus.OVER
            ? previous : next.after(previous));
  }

  /**
   * {@return whether the lease of the life may still be valid, so that its node may own partitions}
   */
  boolean mayHaveValidLease(String life) {
    long now = clock.nanoTime(); // not under the map's lock, because the clock may be code of a user
    var heartbeat = heartbeats.computeIfAbsent(life, key -> new Heartbeat(now, lease, LifeStatus.SEEN));
    return heartbeat.status != LifeStatus.OVER && clock.nanoTime() - heartbeat.seenAt < heartbeat.lease;
  }

  /** Forgets lives without a heartbeat for {@code REMEMBERED_LEASES} leases. */
  void removeOld() {
    long now = clock.nanoTime();
    heartbeats.values().removeIf(heartbeat -> (now - heartbeat.seenAt) / REMEMBERED_LEASES > heartbeat.lease);
  }
}
