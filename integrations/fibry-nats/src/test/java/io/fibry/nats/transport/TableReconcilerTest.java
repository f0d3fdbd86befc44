package io.fibry.nats.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.transport.TableReconciler.KeyListing;
import io.fibry.support.Patience;
import io.fibry.support.UnreadableException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableReconcilerTest implements TableReconciler.WatchedTable {
  private static final Duration CHECK_INTERVAL = Duration.ofDays(1); // wake-ups and failures cause earlier checks
  private static final long DISCONNECTED = -1; // instead of a number of a change: the list fails
  private static final long UNREADABLE = -2; // the list fails with an exception that cannot be printed

  private final List<String> notifications = new CopyOnWriteArrayList<>();
  private final AtomicInteger listCount = new AtomicInteger();
  private final Set<String> omittedKeys = ConcurrentHashMap.newKeySet(); // keys that exist, but are in no list
  private volatile KeyListing listing = new KeyListing(Set.of(), 0);

  private static Entry entry(String key, long version) {
    return new Entry(key, Optional.of(new byte[0]), version);
  }

  private void recordNotification(Entry entry) {
    notifications.add((entry.value().isPresent() ? "" : "no ") + entry.key() + " " + entry.version());
  }

  @Override
  public boolean has(String key) {
    return omittedKeys.contains(key);
  }

  @Override
  public KeyListing list() {
    listCount.incrementAndGet();
    if (listing.lastChange() == UNREADABLE) throw new UnreadableException();
    if (listing.lastChange() == DISCONNECTED) throw new TransportException(Failure.DISCONNECTED, "planned");
    return listing;
  }

  private void listAgain(TableReconciler reconciler, KeyListing newListing) {
    listing = newListing;
    int countBefore = listCount.get();
    reconciler.wake();
    Patience.eventually(() -> listCount.get() > countBefore);
  }

  @Test
  void entryMissingFromListIsReportedDeleted() {
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      var watch = reconciler.open(this::recordNotification);
      watch.accept(entry("a", 5));
      watch.accept(entry("b", 6));

      listAgain(reconciler, new KeyListing(Set.of("b", "c"), 9));

      Patience.eventually(() -> notifications.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no a 9"), notifications);
    }
  }

  @Test
  void listOlderThanEntryDoesNotReportItDeleted() {
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      var watch = reconciler.open(this::recordNotification);
      watch.accept(entry("a", 5));

      listAgain(reconciler, new KeyListing(Set.of(), 4)); // older than the entry "a"
      listAgain(reconciler, new KeyListing(Set.of(), 6));

      Patience.eventually(() -> notifications.size() == 2);
      assertEquals(List.of("a 5", "no a 6"), notifications);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {DISCONNECTED, UNREADABLE})
  void failedListingOfTableIsRetried(long failure) {
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      reconciler.open(this::recordNotification).accept(entry("a", 5));

      listAgain(reconciler, new KeyListing(Set.of(), failure)); // this list fails
      listing = new KeyListing(Set.of(), 6); // found without a wake-up, by the retry two seconds later

      Patience.eventually(() -> notifications.contains("no a 6"));
    }
  }

  @Test
  void existingKeyOmittedFromListIsNotReportedDeleted() {
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      var watch = reconciler.open(this::recordNotification);
      watch.accept(entry("a", 5));
      watch.accept(entry("b", 6));
      omittedKeys.add("a");

      listAgain(reconciler, new KeyListing(Set.of(), 9));

      Patience.eventually(() -> notifications.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no b 9"), notifications);
    }
  }

  @Test
  void failingReaderIsNotifiedAgainAndAffectsNoOtherReader() {
    var reportedDeletions = new AtomicInteger();
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      var failing = reconciler.open(entry -> {
        if (entry.value().isEmpty() && reportedDeletions.incrementAndGet() == 1)
          throw new IllegalStateException("planned");
        recordNotification(entry);
      });
      failing.accept(entry("a", 5));
      failing.accept(entry("b", 6));
      reconciler.open(this::recordNotification).accept(entry("c", 7));

      listAgain(reconciler, new KeyListing(Set.of(), 9)); // listed again two seconds later, because a reader failed

      Patience.eventually(() -> notifications.containsAll(List.of("no a 9", "no b 9", "no c 9")));
      assertEquals(3, reportedDeletions.get()); // of "a", of "b", and again of the key whose reader failed
    }
  }

  @Test
  void closedWatchGetsNoMoreEntries() {
    try (var reconciler = new TableReconciler("test", this, CHECK_INTERVAL)) {
      var closedWatch = reconciler.open(this::recordNotification);
      closedWatch.accept(entry("a", 5));
      reconciler.close(closedWatch);
      reconciler.open(this::recordNotification).accept(entry("b", 6));

      listAgain(reconciler, new KeyListing(Set.of(), 7));

      Patience.eventually(() -> notifications.size() == 3);
      assertEquals(List.of("a 5", "b 6", "no b 7"), notifications);
    }
  }

  /** A table whose changes arrive late. Half of the deletions are lost; some lists are old. */
  private static final class ChangingTable implements TableReconciler.WatchedTable {
    private final Map<String, Long> versions = new HashMap<>();
    private final LinkedBlockingQueue<Entry> changesInTransit = new LinkedBlockingQueue<>();
    private KeyListing oldListing = new KeyListing(Set.of(), 0);
    private long lastVersion;

    synchronized void change(String key, boolean isPut, boolean isLost) {
      lastVersion++;
      if (isPut) versions.put(key, lastVersion);
      else versions.remove(key);
      if (isPut || !isLost) changesInTransit
          .add(isPut ? TableReconcilerTest.entry(key, lastVersion) : new Entry(key, Optional.empty(), lastVersion));
    }

    @Override
    public synchronized boolean has(String key) {
      return versions.containsKey(key);
    }

    @Override
    public synchronized KeyListing list() {
      if (lastVersion % 3 == 0) return oldListing;
      return oldListing = new KeyListing(Set.copyOf(versions.keySet()), lastVersion);
    }

    synchronized Set<String> keys() {
      return versions.keySet().stream().filter(key -> key.startsWith("k")).collect(Collectors.toSet());
    }
  }

  @Test
  void watcherEventuallyKnowsExactlyKeysOfTable() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("reconciler: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 100; round++) {
      var table = new ChangingTable();
      var knownKeys = ConcurrentHashMap.<String>newKeySet();
      try (var reconciler = new TableReconciler("test", table, CHECK_INTERVAL)) {
        var watch = reconciler.open(entry -> {
          if (entry.value().isPresent()) knownKeys.add(entry.key());
          else knownKeys.remove(entry.key());
        });
        var changeDelivery = new FutureTask<Void>(() -> {
          for (Entry entry; !(entry = Patience.nextOf(table.changesInTransit)).key().equals("end");)
            watch.accept(entry);
        }, null);
        Thread.ofPlatform().start(changeDelivery);
        for (int i = 0; i < 200; i++) {
          table.change("k" + random.nextInt(5), random.nextBoolean(), random.nextBoolean());
          if (random.nextInt(4) == 0) reconciler.wake();
        }
        table.change("end", true, false);
        Patience.value(changeDelivery);
        Patience.eventually(() -> {
          table.change("other", true, false); // a table changes all the time, because leases are renewed
          reconciler.wake();
          return knownKeys.equals(table.keys());
        });
      }
    }
  }
}
