package io.fibry.cluster;

import io.fibry.cluster.Engine.Entry;
import io.fibry.time.ManualClock;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** The table of a {@link SeededNetwork}. Its fields are under its monitor. */
final class SeededTable {
  private record Held(byte[] value, long version, Optional<Scheduler.Timer> end) {}

  private final ManualClock clock;
  private final TreeMap<String, Held> held = new TreeMap<>();
  private final List<Consumer<Entry>> watchers = new CopyOnWriteArrayList<>();
  private long versions; // so far, of all keys

  SeededTable(ManualClock clock) {
    this.clock = clock;
  }

  synchronized OptionalLong create(String key, byte[] value, Duration lease) {
    return held.containsKey(key) ? OptionalLong.empty() : put(key, value, lease);
  }

  synchronized OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return has(key, version) ? put(key, value, lease) : OptionalLong.empty();
  }

  private OptionalLong put(String key, byte[] value, Duration lease) {
    var before = held.get(key);
    if (before != null) before.end.ifPresent(Scheduler.Timer::cancel);
    long version = ++versions;
    var end = lease.compareTo(Engine.FOR_EVER) < 0
        ? Optional.of(clock.after(lease, () -> delete(key, version))) : Optional.<Scheduler.Timer>empty();
    held.put(key, new Held(value.clone(), version, end));
    tell(new Entry(key, Optional.of(value), version));
    return OptionalLong.of(version);
  }

  private boolean has(String key, long version) {
    var now = held.get(key);
    return now != null && now.version == version;
  }

  synchronized boolean delete(String key, long version) {
    if (!has(key, version)) return false;
    held.remove(key).end.ifPresent(Scheduler.Timer::cancel);
    tell(new Entry(key, Optional.empty(), ++versions));
    return true;
  }

  synchronized Optional<Entry> get(String key) {
    return Optional.ofNullable(held.get(key)).map(now -> new Entry(key, Optional.of(now.value), now.version));
  }

  private void tell(Entry entry) {
    for (var watcher : watchers) watcher.accept(entry);
  }

  /** Gets what is there, and each change; closing it ends that. */
  synchronized Runnable watch(String prefix, Consumer<Entry> reader) {
    Consumer<Entry> watcher = entry -> {
      if (entry.key().startsWith(prefix)) reader.accept(entry);
    };
    new ArrayList<>(held.entrySet()).forEach(
        one -> watcher.accept(new Entry(one.getKey(), Optional.of(one.getValue().value), one.getValue().version)));
    watchers.add(watcher);
    return () -> watchers.remove(watcher);
  }
}
