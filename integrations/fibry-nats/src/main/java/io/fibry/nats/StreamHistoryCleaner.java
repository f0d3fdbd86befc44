package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.ViewOffset;
import io.nats.client.api.MessageInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.LoggerFactory;

/**
 * Takes turns away that are older than is wanted, and behind a snapshot. It looks at the oldest
 * turns of a kind when it hears of the age, and when there are snapshots, now and then.
 * Thread-safe.
 *
 * <p>Purges turns that later whole turns replaced, too: at once if no view of the kind may still
 * have to read them, otherwise when all views have passed the whole turn. For that it looks for
 * whole turns up to the place of the slowest view, when a view begins and when one moves. The first
 * look in this process begins at the beginning of the stream, later looks continue from there. So
 * it finds what a process that ended has left. One thread at a time looks at a kind; another
 * process may look, too, and purges the same.
 */
final class StreamHistoryCleaner {
  private static final int CHECKS_PER_RETENTION = 16; // times while a turn gets old
  private static final Duration MIN_INTERVAL = Duration.ofSeconds(5); // from one look to the next
  private static final int PAGE = 256;

  /** @param nextCheck when it looks at the turns again */
  private record StreamRetention(Duration age, Instant nextCheck) {}

  private final StreamStore store;
  private final Map<String, StreamRetention> retentions = new ConcurrentHashMap<>(); // by kind
  private final Set<String> activeKinds = ConcurrentHashMap.newKeySet(); // kinds
  private final Map<String, HistorySweep> sweeps = new ConcurrentHashMap<>(); // by kind

  StreamHistoryCleaner(StreamStore store) {
    this.store = store;
  }

  void begin(String kind, Duration age) {
    retentions.merge(kind, new StreamRetention(age, Instant.MIN),
        (before, now) -> before.age.equals(age) ? before : now);
    onSnapshotStored(kind);
  }

  /** A snapshot of the kind was stored. */
  void onSnapshotStored(String kind) {
    var now = store.clock().instant();
    var age = retentions.get(kind);
    if (age == null || now.isBefore(age.nextCheck) || !activeKinds.add(kind)) return;
    var pause = age.age.dividedBy(CHECKS_PER_RETENTION);
    retentions.replace(kind, age,
        new StreamRetention(age.age, now.plus(pause.compareTo(MIN_INTERVAL) < 0 ? MIN_INTERVAL : pause)));
    boolean begun = false;
    try {
      Thread.ofVirtual().name("forgetting of " + kind).start(() -> run(kind, now.minus(age.age)));
      begun = true;
    } finally {
      if (!begun) activeKinds.remove(kind);
    }
  }

  private void run(String kind, Instant before) {
    try {
      delete(kind, before.toEpochMilli());
    } catch (RuntimeException failure) {
      if (!store.isClosed())
        LoggerFactory.getLogger(NatsStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    } finally {
      activeKinds.remove(kind);
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
    return Optional.of(StoreSubjects.actor(subject))
        .flatMap(id -> store.log().lastMessage(store.subjects().snapshot(id)))
        .map(last -> Snapshot.read(last).seq()).orElse(0L);
  }

  // ---- what whole turns replaced

  /** Messages of an actor before this number have only turns that a later whole one replaced. */
  void removeDead(Store.ActorId actor, long number) {
    start("purging of " + actor, actor.kind(), () -> {
      var unread = unread(actor.kind());
      if (unread.isEmpty() || number <= unread.get().seq()) purge(actor, number);
    });
  }

  private void purge(Store.ActorId actor, long number) {
    store.log().purge(store.subjects().turns(actor), number - 1);
  }

  /** A view of the kind has begun, has moved, or was forgotten. */
  void onViewMoved(String kind) {
    var sweep = sweeps.computeIfAbsent(kind, HistorySweep::new);
    if (sweep.requests.getAndIncrement() > 0) return; // the thread that runs sees it
    boolean begun = false;
    try {
      start("purging of kind " + kind, kind, sweep::run);
      begun = true;
    } finally {
      if (!begun) sweep.requests.set(0);
    }
  }

  private void start(String name, String kind, Runnable task) {
    Thread.ofVirtual().name(name).start(() -> {
      try {
        task.run();
      } catch (StoreClosedException over) {
        // the next process does it
      } catch (RuntimeException failure) {
        if (!store.isClosed()) LoggerFactory.getLogger(NatsStore.class)
            .warn("{} keeps turns of kind '{}' that were replaced for now", store, kind, failure);
      }
    });
  }

  /** The first place that some view of the kind has not passed; empty if there is no view. */
  private Optional<StreamHistory.StreamPosition> unread(String kind) {
    var all = store.log().subjects(store.subjects().turnsOf(Store.VIEWS)).keySet();
    return store.log().lastMessages(all.stream().filter(one -> isTurnsOfKind(kind, one)).toList()).stream()
        .flatMap(one -> view(one).stream()).map(view -> StreamHistory.StreamPosition.behind(view.offset(), kind))
        .min(Comparator.naturalOrder());
  }

  private static boolean isTurnsOfKind(String kind, String subject) {
    return ViewOffset.kindOf(StoreSubjects.actor(subject)).filter(kind::equals).isPresent();
  }

  /** Where a life has begun without a turn yet, it says nothing: the turn before does. */
  private Optional<ViewOffset> view(MessageInfo last) {
    var id = StoreSubjects.actor(last.getSubject());
    var entry = JournalEntry.read(last);
    if (entry.number() == 0) return Optional.empty();
    var bodies = new TurnReader(store.log(), store.subjects(), id).readUpTo(last.getSeq(), entry);
    return bodies.isEmpty() ? Optional.empty() : ViewOffset.of(id, bodies.getLast());
  }

  /**
   * The look for one kind; it runs on one thread at a time, which counts how often it was asked for
   * meanwhile.
   */
  private final class HistorySweep {
    private final String kind;
    private final AtomicInteger requests = new AtomicInteger(); // 0 while no thread runs
    private long at = 1; // where it continues; used by the running thread

    HistorySweep(String kind) {
      this.kind = kind;
    }

    void run() {
      boolean over = false;
      try {
        while (!over) {
          int seen = requests.get();
          purge();
          over = requests.compareAndSet(seen, 0);
        }
      } finally {
        if (!over) requests.set(0); // it failed: the next move of a view tries again
      }
    }

    private void purge() {
      var unread = unread(kind);
      String filter = store.subjects().turnsOf(kind);
      for (var page = store.log().page(filter, at, PAGE); !page.isEmpty() && !store.isClosed(); page =
          store.log().page(filter, at, PAGE)) {
        var whole = new HashMap<String, Long>(); // the last message with a whole turn, by subject
        long next = at;
        boolean over = false;
        for (var one : page) {
          over = unread.isPresent() && !isPassed(one, unread.get());
          if (over) break;
          if (JournalEntry.read(one).hasWhole()) whole.put(one.getSubject(), one.getSeq());
          next = one.getSeq() + 1;
        }
        if (!isPurged(whole)) return; // such as without a keeper: the next move of a view tries again from here
        at = next;
        if (over) return;
      }
    }

    /** All of its turns. */
    private boolean isPassed(MessageInfo message, StreamHistory.StreamPosition unread) {
      return message.getSeq() < unread.seq()
          || message.getSeq() == unread.seq() && unread.index() >= JournalEntry.read(message).turns().size();
    }

    private boolean isPurged(Map<String, Long> whole) {
      var purgeTarget = new ArrayList<CompletableFuture<WriteOutcome>>();
      whole.forEach((subject, seq) -> {
        if (seq > 1) purgeTarget.add(store.log().purge(subject, seq - 1));
      });
      return purgeTarget.stream().map(CompletableFuture::join).allMatch(WriteOutcome.WriteSuccess.class::isInstance);
    }
  }
}
