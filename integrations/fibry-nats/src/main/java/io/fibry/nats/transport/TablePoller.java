package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.NatsNetwork;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches entries by reading them every two seconds. Successive lists may come from different
 * nodes, and the later list may be older. Therefore an entry that is older than the known version
 * is skipped. A missing entry is reported as ended only if two lists in a row lack it. Fields are
 * used by the polling thread only.
 */
final class TablePoller {
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(2);

  private final Supplier<List<Entry>> entrySource;
  private final Consumer<Entry> reader;
  private final Map<String, Long> knownVersions = new HashMap<>(); // by key
  private final HashSet<String> missingKeys = new HashSet<>(); // known keys that the last list did not have

  private TablePoller(Supplier<List<Entry>> entrySource, Consumer<Entry> reader) {
    this.entrySource = entrySource;
    this.reader = reader;
  }

  static Subscription begin(Supplier<List<Entry>> entrySource, Consumer<Entry> reader) {
    var thread = Thread.ofVirtual().name("nodes of an asker").start(new TablePoller(entrySource, reader)::run);
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

  private void read() {
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
    var unlistedKeys = new HashSet<>(knownVersions.keySet());
    for (var entry : entries) {
      unlistedKeys.remove(entry.key());
      if (knownVersions.getOrDefault(entry.key(), 0L) >= entry.version()) continue;
      reader.accept(entry);
      knownVersions.put(entry.key(), entry.version());
    }
    for (var key : unlistedKeys) if (missingKeys.contains(key)) {
      reader.accept(new Entry(key, Optional.empty(), knownVersions.remove(key)));
    }
    missingKeys.clear();
    missingKeys.addAll(unlistedKeys);
    missingKeys.retainAll(knownVersions.keySet());
  }
}
