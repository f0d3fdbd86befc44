package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.pubsub.Subscription;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The table of a {@link MemoryNetwork}. Fields are guarded by the monitor of this object. The clock
 * may be code of a user, and is called outside of the monitor.
 */
final class MemoryTable {
  private record TableValue(byte[] value, long version, Expiry expiry) {
    Entry entry(String key) {
      return new Entry(key, Optional.of(value), version);
    }
  }

  private record TableWatcher(String prefix, Actor<Entry> actor) {
    void notifyIfMatching(Entry entry) {
      if (entry.key().startsWith(prefix)) actor.sendMessage(entry);
    }
  }

  /** The end of a lease, whose timer is set before the value is written. */
  private final class Expiry implements Runnable {
    private final String key;
    private Optional<Scheduler.Timer> timer = Optional.empty(); // written before the value is written
    private boolean isOver; // guarded by the monitor of the table

    Expiry(String key) {
      this.key = key;
    }

    Expiry begin(Duration lease) {
      if (lease.compareTo(ClusterTransport.FOREVER) < 0) timer = Optional.of(clock.schedule(lease, this));
      return this;
    }

    @Override
    public void run() {
      synchronized (MemoryTable.this) {
        isOver = true;
        removeIfOver();
      }
    }

    /** Removes the value that has this lease, if it was written and the lease is over. */
    void removeIfOver() {
      var present = values.get(key);
      if (isOver && present != null && present.expiry == this) remove(key);
    }

    void cancel() {
      timer.ifPresent(Scheduler.Timer::cancel);
    }
  }

  private final Scheduler clock;
  private final TreeMap<String, TableValue> values = new TreeMap<>();
  private final Set<TableWatcher> watchers = new LinkedHashSet<>();
  private long lastVersion; // one sequence for all keys

  MemoryTable(Scheduler clock) {
    this.clock = clock;
  }

  OptionalLong create(String key, byte[] value, Duration lease) {
    return write(key, value, lease, Optional::isEmpty);
  }

  OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return write(key, value, lease, previous -> hasVersion(previous, version));
  }

  private static boolean hasVersion(Optional<TableValue> value, long version) {
    return value.isPresent() && value.get().version == version;
  }

  /**
   * Writes a value if the present value permits that. A clock that refuses the timer changes no
   * value.
   */
  private OptionalLong write(String key, byte[] value, Duration lease, Predicate<Optional<TableValue>> mayReplace) {
    var expiry = new Expiry(key).begin(lease);
    var obsoleteExpiry = expiry;
    var version = OptionalLong.empty();
    synchronized (this) {
      var previous = Optional.ofNullable(values.get(key));
      if (mayReplace.test(previous)) {
        version = OptionalLong.of(put(key, value, expiry));
        obsoleteExpiry = previous.isEmpty() ? null : previous.get().expiry;
      }
    }
    if (obsoleteExpiry != null) obsoleteExpiry.cancel();
    return version;
  }

  private long put(String key, byte[] value, Expiry expiry) {
    var tableValue = new TableValue(value.clone(), ++lastVersion, expiry);
    values.put(key, tableValue);
    notifyWatchers(tableValue.entry(key));
    expiry.removeIfOver();
    return tableValue.version;
  }

  boolean delete(String key, long version) {
    Expiry expiry;
    synchronized (this) {
      if (!hasVersion(Optional.ofNullable(values.get(key)), version)) return false;
      expiry = remove(key);
    }
    expiry.cancel();
    return true;
  }

  private Expiry remove(String key) {
    var expiry = values.remove(key).expiry;
    notifyWatchers(new Entry(key, Optional.empty(), ++lastVersion));
    return expiry;
  }

  synchronized Optional<Entry> get(String key) {
    return Optional.ofNullable(values.get(key)).map(tableValue -> tableValue.entry(key));
  }

  private void notifyWatchers(Entry entry) {
    for (var watcher : watchers) watcher.notifyIfMatching(entry);
  }

  synchronized Subscription watch(String prefix, Consumer<Entry> reader) {
    Actor<Entry> actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(reader::accept);
    var watcher = new TableWatcher(prefix, actor);
    values.forEach((key, tableValue) -> watcher.notifyIfMatching(tableValue.entry(key)));
    watchers.add(watcher);
    return () -> forget(watcher);
  }

  private synchronized void forget(TableWatcher watcher) {
    watchers.remove(watcher);
    watcher.actor.sendPoisonPill();
  }
}
