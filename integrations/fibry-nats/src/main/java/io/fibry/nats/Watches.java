package io.fibry.nats;

import io.fibry.cluster.Engine.Entry;
import io.fibry.cluster.LostException;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells each watch of a table which entries ended while it was cut off. The client continues a
 * watch behind the last change that it has read, and the server forgets after a while that an entry
 * ended. So a thread lists the keys of the table, every half minute and after each reconnection,
 * and tells each watch that the entries ended which it knows and which the list does not have.
 *
 * <p>The list may come from a server that is behind. It proves that an entry has ended only if the
 * table has changed since the entry did; the numbers of the changes decide. The reader of a watch
 * is called under a lock, since this thread and the client's both call it.
 */
final class Watches implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Duration PAUSE = Duration.ofSeconds(30);

  /**
   * The keys that a table had.
   *
   * @param last the number of the table's last change at that time
   */
  record Listed(Set<String> keys, long last) {}

  private final Supplier<Listed> listing;
  private final List<Watch> open = new CopyOnWriteArrayList<>();
  private final Thread thread;
  private volatile boolean closed;

  Watches(String name, Supplier<Listed> listing) {
    this.listing = listing;
    this.thread = Thread.ofVirtual().name(name).start(this::run);
  }

  /** One reader and what it was told. */
  final class Watch implements Consumer<Entry> {
    private final Consumer<Entry> reader;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Long> there = new HashMap<>(); // versions by key; under the lock

    private Watch(Consumer<Entry> reader) {
      this.reader = reader;
    }

    @Override
    public void accept(Entry entry) {
      lock.lock();
      try {
        if (entry.value().isPresent()) there.put(entry.key(), entry.version());
        else there.remove(entry.key());
        reader.accept(entry);
      } finally {
        lock.unlock();
      }
    }

    private void compare(Listed listed) {
      lock.lock();
      try {
        there.entrySet().stream().filter(one -> !listed.keys.contains(one.getKey()) && one.getValue() < listed.last)
            .map(Map.Entry::getKey).toList().forEach(key -> accept(new Entry(key, Optional.empty(), listed.last)));
      } finally {
        lock.unlock();
      }
    }
  }

  /** {@return a watch that passes entries on to the reader, until it is closed} */
  Watch open(Consumer<Entry> reader) {
    var watch = new Watch(reader);
    open.add(watch);
    return watch;
  }

  void close(Watch watch) {
    open.remove(watch);
  }

  /** Lists the keys now; does not wait for that. */
  void look() {
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!closed) try {
      LockSupport.parkNanos(this, PAUSE.toNanos());
      if (closed || open.isEmpty()) continue;
      var listed = listing.get();
      open.forEach(watch -> watch.compare(listed));
    } catch (LostException cut) {
      LOG.debug("the keys of the table could not be listed", cut);
    } catch (Throwable failure) {
      LOG.error("a watch was not told which entries have ended; it is tried again", failure);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
