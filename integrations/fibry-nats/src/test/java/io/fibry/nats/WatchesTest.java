package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.TableReconciler.KeyListing;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class WatchesTest implements TableReconciler.WatchedTable {
  private static final Duration FOR_EVER = Duration.ofDays(1); // it looks only when it is told to

  private final List<String> told = new CopyOnWriteArrayList<>();
  private final AtomicInteger lists = new AtomicInteger();
  private final Set<String> read = ConcurrentHashMap.newKeySet(); // keys that exist, though no list has them
  private volatile KeyListing list = new KeyListing(Set.of(), 0);

  private static Entry there(String key, long version) {
    return new Entry(key, Optional.of(new byte[0]), version);
  }

  private void tell(Entry entry) {
    told.add((entry.value().isPresent() ? "" : "no ") + entry.key() + " " + entry.version());
  }

  @Override
  public boolean has(String key) {
    return read.contains(key);
  }

  @Override
  public KeyListing list() {
    lists.incrementAndGet();
    if (list.lastChange() < 0) throw new TransportException(Failure.DISCONNECTED, "planned");
    return list;
  }

  private void look(TableReconciler watches, KeyListing listed) {
    list = listed;
    int before = lists.get();
    watches.wake();
    Patience.eventually(() -> lists.get() > before);
  }

  @Test
  void unlistedEntryIsReportedDeleted() {
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      var watch = watches.open(this::tell);
      watch.accept(there("a", 5));
      watch.accept(there("b", 6));

      look(watches, new KeyListing(Set.of("b", "c"), 9));

      Patience.eventually(() -> told.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no a 9"), told);
    }
  }

  @Test
  void staleListDeletesNoEntries() {
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      var watch = watches.open(this::tell);
      watch.accept(there("a", 5));

      look(watches, new KeyListing(Set.of(), 4)); // before "a" was made
      look(watches, new KeyListing(Set.of(), 6));

      Patience.eventually(() -> told.size() == 2);
      assertEquals(List.of("a 5", "no a 6"), told);
    }
  }

  @Test
  void failedListIsRetried() {
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      watches.open(this::tell).accept(there("a", 5));

      look(watches, new KeyListing(Set.of(), -1)); // it fails
      look(watches, new KeyListing(Set.of(), 6));

      Patience.eventually(() -> told.contains("no a 6"));
    }
  }

  @Test
  void keyOmittedFromLongListIsNotDeleted() {
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      var watch = watches.open(this::tell);
      watch.accept(there("a", 5));
      watch.accept(there("b", 6));
      read.add("a");

      look(watches, new KeyListing(Set.of(), 9));

      Patience.eventually(() -> told.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no b 9"), told);
    }
  }

  @Test
  void failingReaderIsNotifiedAgainWithoutAffectingOthers() {
    var failures = new AtomicInteger();
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      var failing = watches.open(entry -> {
        if (entry.value().isEmpty() && failures.incrementAndGet() == 1) throw new IllegalStateException("planned");
        tell(entry);
      });
      failing.accept(there("a", 5));
      failing.accept(there("b", 6));
      watches.open(this::tell).accept(there("c", 7));

      look(watches, new KeyListing(Set.of(), 9)); // and again after two seconds, since it failed

      Patience.eventually(() -> told.containsAll(List.of("no a 9", "no b 9", "no c 9")));
      assertEquals(3, failures.get());
    }
  }

  @Test
  void closedWatchGetsNoMoreEntries() {
    try (var watches = new TableReconciler("test", this, FOR_EVER)) {
      var closed = watches.open(this::tell);
      closed.accept(there("a", 5));
      watches.close(closed);
      watches.open(this::tell).accept(there("b", 6));

      look(watches, new KeyListing(Set.of(), 7));

      Patience.eventually(() -> told.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no b 7"), told);
    }
  }

  /** A table: changes arrive late, half of the ends are lost, and lists are sometimes old. */
  private static final class Changing implements TableReconciler.WatchedTable {
    private final Map<String, Long> there = new HashMap<>();
    private final LinkedBlockingQueue<Entry> arriving = new LinkedBlockingQueue<>();
    private KeyListing old = new KeyListing(Set.of(), 0);
    private long last;

    synchronized void change(String key, boolean put, boolean lost) {
      last++;
      if (put) there.put(key, last);
      else there.remove(key);
      if (put || !lost) arriving.add(put ? WatchesTest.there(key, last) : new Entry(key, Optional.empty(), last));
    }

    @Override
    public synchronized boolean has(String key) {
      return there.containsKey(key);
    }

    @Override
    public synchronized KeyListing list() {
      if (last % 3 == 0) return old;
      return old = new KeyListing(Set.copyOf(there.keySet()), last);
    }

    synchronized Set<String> keys() {
      return there.keySet().stream().filter(key -> key.startsWith("k")).collect(Collectors.toSet());
    }
  }

  @Test
  void watchConvergesToTable() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("watches: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 100; round++) {
      var table = new Changing();
      var known = ConcurrentHashMap.<String>newKeySet();
      try (var watches = new TableReconciler("test", table, FOR_EVER)) {
        var watch = watches.open(entry -> {
          if (entry.value().isPresent()) known.add(entry.key());
          else known.remove(entry.key());
        });
        var client = Thread.ofPlatform().start(() -> {
          for (Entry entry; !(entry = Patience.next(table.arriving)).key().equals("end");) watch.accept(entry);
        });
        for (int i = 0; i < 200; i++) {
          table.change("k" + random.nextInt(5), random.nextBoolean(), random.nextBoolean());
          if (random.nextInt(4) == 0) watches.wake();
        }
        table.change("end", true, false);
        Patience.joined(client);
        Patience.eventually(() -> {
          table.change("other", true, false); // a table changes all the time: leases are renewed
          watches.wake();
          return known.equals(table.keys());
        });
      }
    }
  }
}
