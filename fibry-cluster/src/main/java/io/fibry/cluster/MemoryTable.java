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

/** The table of a {@link MemoryNetwork}. Fields are guarded by the monitor of this object. */
final class MemoryTable {
  private record TableValue(byte[] value, long version, Optional<Scheduler.Timer> expiryTimer) {
    void cancelExpiry() {
      expiryTimer.ifPresent(Scheduler.Timer::cancel);
    }

    Entry entry(String key) {
      return new Entry(key, Optional.of(value), version);
    }
  }

  private record TableWatcher(String prefix, Actor<Entry> actor) {
    void notifyIfMatching(Entry entry) {
      if (entry.key().startsWith(prefix)) actor.sendMessage(entry);
    }
  }

  private final Scheduler clock;
  private final TreeMap<String, TableValue> values = new TreeMap<>();
  private final Set<TableWatcher> watchers = new LinkedHashSet<>();
  private long lastVersion; // one sequence for all keys

  MemoryTable(Scheduler clock) {
    this.clock = clock;
  }

  synchronized OptionalLong create(String key, byte[] value, Duration lease) {
    return values.containsKey(key) ? OptionalLong.empty() : OptionalLong.of(put(key, value, lease));
  }

  synchronized OptionalLong update(String key, byte[] value, long version, Duration lease) {
    if (!hasVersion(key, version)) return OptionalLong.empty();
    var previous = values.get(key);
    long newVersion = put(key, value, lease);
    previous.cancelExpiry(); // after the put: if the put throws, the previous value must still expire
    return OptionalLong.of(newVersion);
  }

  private long put(String key, byte[] value, Duration lease) {
    long version = ++lastVersion;
    var expiryTimer = lease.compareTo(ClusterTransport.FOREVER) < 0
        ? Optional.of(clock.schedule(lease, () -> delete(key, version))) : Optional.<Scheduler.Timer>empty();
    var tableValue = new TableValue(value.clone(), version, expiryTimer);
    values.put(key, tableValue);
    notifyWatchers(tableValue.entry(key));
    return version;
  }

  private boolean hasVersion(String key, long version) {
    var tableValue = values.get(key);
    return tableValue != null && tableValue.version == version;
  }

  synchronized boolean delete(String key, long version) {
    if (!hasVersion(key, version)) return false;
    values.remove(key).cancelExpiry();
    notifyWatchers(new Entry(key, Optional.empty(), ++lastVersion));
    return true;
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
