package io.fibry.nats;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/**
 * Takes turns away that are older than is wanted, and behind a snapshot. It looks at the oldest
 * turns of a kind when it hears of the age, and when there are snapshots, now and then.
 * Thread-safe.
 */
final class Forgetting {
  private static final int OFTEN = 16; // times while a turn gets old
  private static final Duration LEAST = Duration.ofSeconds(5); // from one look to the next
  private static final int PAGE = 256;

  /** @param next when it looks at the turns again */
  private record Age(Duration age, Instant next) {}

  private final StreamStore store;
  private final Map<String, Age> ages = new ConcurrentHashMap<>(); // by kind
  private final Set<String> looking = ConcurrentHashMap.newKeySet(); // kinds

  Forgetting(StreamStore store) {
    this.store = store;
  }

  void begin(String kind, Duration age) {
    ages.merge(kind, new Age(age, Instant.MIN), (before, now) -> before.age.equals(age) ? before : now);
    look(kind);
  }

  /** A snapshot of the kind was stored. */
  void look(String kind) {
    var now = store.clock().instant();
    var age = ages.get(kind);
    if (age == null || now.isBefore(age.next) || !looking.add(kind)) return;
    var pause = age.age.dividedBy(OFTEN);
    ages.replace(kind, age, new Age(age.age, now.plus(pause.compareTo(LEAST) < 0 ? LEAST : pause)));
    boolean begun = false;
    try {
      Thread.ofVirtual().name("forgetting of " + kind).start(() -> run(kind, now.minus(age.age)));
      begun = true;
    } finally {
      if (!begun) looking.remove(kind);
    }
  }

  private void run(String kind, Instant before) {
    try {
      delete(kind, before.toEpochMilli());
    } catch (RuntimeException failure) {
      if (!store.isClosed())
        LoggerFactory.getLogger(NatsStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    } finally {
      looking.remove(kind);
    }
  }

  /** Messages in which all turns are old, and which are before that of the snapshot. */
  private void delete(String kind, long before) {
    String filter = store.subjects().turnsOf(kind);
    var covered = new HashMap<String, Long>(); // before these numbers of the stream, by subject
    long at = 1;
    for (var page = store.log().page(filter, at, PAGE); !page.isEmpty() && !store.isClosed(); page =
        store.log().page(filter, at, PAGE)) {
      var gone = new HashMap<String, Long>();
      for (var one : page) {
        boolean isOld = JournalEntry.read(one).turns().stream().allMatch(turn -> turn.at() < before);
        if (isOld && one.getSeq() < covered.computeIfAbsent(one.getSubject(), this::covered))
          gone.put(one.getSubject(), one.getSeq());
      }
      gone.forEach(store.log()::purge);
      at = page.getLast().getSeq() + 1;
    }
  }

  private long covered(String subject) {
    return Optional.of(LogSubjects.actor(subject)).flatMap(id -> store.log().last(store.subjects().snapshot(id)))
        .map(last -> Snapshot.read(last).seq()).orElse(0L);
  }
}
