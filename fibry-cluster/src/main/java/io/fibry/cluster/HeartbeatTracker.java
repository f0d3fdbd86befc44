package io.fibry.cluster;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * When this node last saw a heartbeat of each life of a node, by its own clock that nobody sets. A
 * life may believe in its lease until a whole lease after that, unless its entry says that it is
 * over. An entry that is gone does not say so: the server may have dropped it because the clock of
 * the server was set. A life that was never heard of counts as heard when it is first asked for.
 *
 * <p>Thread-safe: each change is one atomic operation on the map. A life that is over stays so, and
 * the lease of a life whose entry is gone does not begin again, even if late news tell of an older
 * heartbeat.
 */
final class HeartbeatTracker {
  private static final int REMEMBERED_LEASES = 10; // leases; a life that is asked for later counts as heard then

  private enum LifeStatus {
    SEEN, GONE, OVER
  }

  private record Heartbeat(long nanos, long lease, LifeStatus kind) {}

  private final Scheduler clock;
  private final long lease; // nanoseconds, of lives that do not tell theirs
  private final Map<String, Heartbeat> lastSeen = new ConcurrentHashMap<>(); // by life

  HeartbeatTracker(Scheduler clock, Duration lease) {
    this.clock = clock;
    this.lease = nanos(lease);
  }

  /** At most 292 years. */
  private static long nanos(Duration time) {
    return TimeUnit.NANOSECONDS.convert(time);
  }

  /** What an entry tells of a life, which was written before now. */
  void onEntry(State one) {
    if (one.isOver()) onLifeEnded(one.member().id());
    else note(one.member().id(), one.lease().map(HeartbeatTracker::nanos).orElse(lease), LifeStatus.SEEN);
  }

  /** The life itself has ended it, or a node that waited for its lease. */
  void onLifeEnded(String life) {
    note(life, lease, LifeStatus.OVER);
  }

  /**
   * Its entry was not there just now. The last heartbeat may be one that this node never saw, so a
   * whole lease begins the first time that the entry is missed. After that there is none.
   *
   * @return as {@link #mayLive}
   */
  boolean mayLiveWithoutEntry(String life) {
    var unknown = new Heartbeat(clock.nanoTime(), lease, LifeStatus.GONE);
    lastSeen.compute(life, (same, before) -> before == null ? unknown
        : before.kind == LifeStatus.SEEN ? new Heartbeat(clock.nanoTime(), before.lease, LifeStatus.GONE) : before);
    return mayLive(life);
  }

  private void note(String life, long its, LifeStatus kind) {
    var now = new Heartbeat(clock.nanoTime(), its, kind);
    lastSeen.merge(life, now, (before, next) -> next.kind.compareTo(before.kind) < 0 || before.kind == LifeStatus.OVER
        ? before : next);
  }

  /** {@return whether its node may still take itself for the owner of parts} */
  boolean mayLive(String life) {
    var heard = lastSeen.computeIfAbsent(life, none -> new Heartbeat(clock.nanoTime(), lease, LifeStatus.SEEN));
    return heard.kind != LifeStatus.OVER && clock.nanoTime() - heard.nanos < heard.lease;
  }

  /** Forgets lives that are long over. */
  void removeOld() {
    long now = clock.nanoTime();
    lastSeen.values().removeIf(heard -> (now - heard.nanos) / REMEMBERED_LEASES > heard.lease);
  }
}
