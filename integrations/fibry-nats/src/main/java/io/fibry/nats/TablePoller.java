package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
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
 * Watches entries by reading them every two seconds. Lists of two nodes may come in the wrong
 * order. An entry that is older than the known one is skipped, and a missing entry is reported as
 * gone only if it is missing twice in a row. Fields are of the thread that reads.
 */
final class TablePoller {
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(2);

  private final Supplier<List<Entry>> entrySource;
  private final Consumer<Entry> reader;
  private final Map<String, Long> knownVersions = new HashMap<>(); // versions by key
  private final HashSet<String> missing = new HashSet<>(); // from the last list

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
    } catch (InterruptedException closed) {
      return;
    }
  }

  private void read() {
    try {
      compare(entrySource.get());
    } catch (TransportException cut) {
      if (cut.failure() == TransportException.Failure.NO_RECEIVER) compare(List.of()); // no node is alive
      else LOG.debug("the nodes could not be read", cut);
    } catch (RuntimeException failure) {
      LOG.error("the nodes could not be read; this is tried again in 2 seconds", failure);
    }
  }

  private void compare(List<Entry> all) {
    var gone = new HashSet<>(knownVersions.keySet());
    for (var one : all) {
      gone.remove(one.key());
      if (knownVersions.getOrDefault(one.key(), 0L) >= one.version()) continue;
      reader.accept(one);
      knownVersions.put(one.key(), one.version());
    }
    for (var key : gone) if (missing.contains(key)) {
      reader.accept(new Entry(key, Optional.empty(), knownVersions.remove(key)));
    }
    missing.clear();
    missing.addAll(gone);
    missing.retainAll(knownVersions.keySet());
  }
}
