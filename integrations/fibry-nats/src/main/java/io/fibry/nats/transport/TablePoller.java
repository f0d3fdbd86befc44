package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.NatsNetwork;
import io.fibry.pubsub.Subscription;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * Watches the table of the nodes for a program with the role ASKER: asks a node for the table every
 * two seconds. Successive answers may come from different nodes, and the later answer may be older.
 * Therefore an entry that is not newer than its known version is skipped, even if its end was
 * reported after that version. A missing entry is reported as ended only if two answers in a row
 * lack it. Fields are used by the polling thread only.
 */
final class TablePoller {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(2);

  private final Supplier<List<Entry>> entrySource;
  private final Consumer<Entry> onEntry;
  private final Map<String, Long> knownVersions = new HashMap<>(); // by key, of living and ended entries
  private final HashSet<String> liveKeys = new HashSet<>(); // keys whose entries were not reported as ended
  private final HashSet<String> missingKeys = new HashSet<>(); // live keys that the last answer did not have

  TablePoller(Supplier<List<Entry>> entrySource, Consumer<Entry> onEntry) {
    this.entrySource = entrySource;
    this.onEntry = onEntry;
  }

  static Subscription begin(Supplier<List<Entry>> entrySource, Consumer<Entry> onEntry) {
    var thread = Thread.ofVirtual().name("poll of the node table").start(new TablePoller(entrySource, onEntry)::run);
    return thread::interrupt;
  }

  private void run() {
    while (!Thread.currentThread().isInterrupted()) try {
      read();
      Thread.sleep(POLL_INTERVAL);
    } catch (InterruptedException interrupt) {
      return;
    }
  }

  /** Reads the entries once, and reports the changes. */
  void read() {
    try {
      compare(entrySource.get());
    } catch (TransportException failure) {
      if (failure.failure() == TransportException.Failure.NO_RECEIVER) compare(List.of()); // no node is alive
      else LOG.debug("the nodes could not be read", failure);
    } catch (RuntimeException failure) {
      LOG.error("the nodes could not be read; this is tried again in 2 seconds", failure);
    }
  }

  private void compare(List<Entry> entries) {
    var unlistedKeys = new HashSet<>(liveKeys);
    for (var entry : entries) {
      unlistedKeys.remove(entry.key());
      if (knownVersions.getOrDefault(entry.key(), 0L) >= entry.version()) continue;
      onEntry.accept(entry);
      knownVersions.put(entry.key(), entry.version());
      liveKeys.add(entry.key());
    }
    for (var key : unlistedKeys) if (missingKeys.contains(key)) {
      onEntry.accept(new Entry(key, Optional.empty(), knownVersions.get(key)));
      liveKeys.remove(key);
    }
    missingKeys.clear();
    missingKeys.addAll(unlistedKeys);
    missingKeys.retainAll(liveKeys);
  }
}
