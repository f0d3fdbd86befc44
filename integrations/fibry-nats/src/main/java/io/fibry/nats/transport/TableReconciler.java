package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.NatsNetwork;
import io.fibry.pubsub.Subscription;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Tells the watches of a table which entries ended while the connection was cut. After a
 * reconnection the client continues after the last change that it has read, but the server
 * remembers only for a while that an entry ended. Therefore a thread lists the keys of the table
 * every 30 seconds and after each reconnection. It reports the entries that a watch knows and the
 * table does not have.
 *
 * <p>The list may come from a replica that is behind. It proves that an entry has ended only if the
 * last change of the list is newer than the entry. A reader is called under the lock of its watch,
 * because both the listing thread and the client's thread call readers.
 */
final class TableReconciler implements AutoCloseable {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * The keys that a table had.
   *
   * @param lastChange the number of the last change of the table when the keys were listed
   */
  record KeyListing(Set<String> keys, long lastChange) {}

  /** The table that is watched. */
  interface WatchedTable {
    KeyListing list();

    boolean has(String key);
  }

  private final WatchedTable table;
  private final Duration checkInterval;
  private final List<TableWatch> openWatches = new CopyOnWriteArrayList<>();
  private final Thread thread;
  private volatile boolean closed;

  TableReconciler(String name, WatchedTable table, Duration checkInterval) {
    this.table = table;
    this.checkInterval = checkInterval;
    this.thread = Thread.ofVirtual().name(name).start(this::run);
  }

  /** A reader, and the versions of the entries that it knows. */
  final class TableWatch implements Consumer<Entry> {
    private final Consumer<Entry> reader;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Long> knownVersions = new HashMap<>(); // by key; guarded by lock

    private TableWatch(Consumer<Entry> reader) {
      this.reader = reader;
    }

    @Override
    public void accept(Entry entry) {
      lock.lock();
      try {
        reader.accept(entry);
        if (entry.value().isPresent()) knownVersions.put(entry.key(), entry.version());
        else knownVersions.remove(entry.key());
      } finally {
        lock.unlock();
      }
    }

    /** {@return the keys that this watch knows and the listing does not have} */
    private List<String> missing(KeyListing listing) {
      lock.lock();
      try {
        return knownVersions.keySet().stream().filter(key -> !listing.keys.contains(key)).toList();
      } finally {
        lock.unlock();
      }
    }

    private void reportEnd(String key, KeyListing listing) {
      lock.lock();
      try {
        var version = knownVersions.get(key);
        if (version != null && version < listing.lastChange)
          accept(new Entry(key, Optional.empty(), listing.lastChange));
      } finally {
        lock.unlock();
      }
    }
  }

  /** {@return a watch that passes entries on to the reader, until it is closed} */
  TableWatch open(Consumer<Entry> reader) {
    var watch = new TableWatch(reader);
    openWatches.add(watch);
    return watch;
  }

  void close(TableWatch watch) {
    openWatches.remove(watch);
  }

  /** Lists the keys soon, on another thread. */
  void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    for (long wait = checkInterval.toNanos(); !closed; wait = compareAll() ? checkInterval.toNanos() : RETRY_NANOS)
      LockSupport.parkNanos(this, wait);
  }

  /** {@return whether all watches are up to date; if not, this is tried again in 2 seconds} */
  private boolean compareAll() {
    if (closed || openWatches.isEmpty()) return true;
    boolean isUpToDate = true;
    try {
      var listing = table.list();
      for (var watch : openWatches) isUpToDate &= compare(watch, listing);
    } catch (Throwable failure) {
      logFailure("the keys of the table could not be listed", failure);
      isUpToDate = false;
    }
    return isUpToDate;
  }

  /**
   * Reports to a watch the end of entries that it knows and the table does not have. Returns
   * whether all reports succeeded. Reads each missing key first, because a long list comes in pages
   * and may lack a key.
   */
  private boolean compare(TableWatch watch, KeyListing listing) {
    boolean isUpToDate = true;
    for (var key : watch.missing(listing)) try {
      if (!table.has(key)) watch.reportEnd(key, listing);
    } catch (Throwable failure) {
      logFailure("the end of entry '" + key + "' was not reported to a watch", failure);
      isUpToDate = false;
    }
    return isUpToDate;
  }

  private static void logFailure(String text, Throwable failure) {
    if (failure instanceof TransportException) LOG.debug(text, failure);
    else LOG.error("{}; this is tried again in 2 seconds", text, failure);
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
