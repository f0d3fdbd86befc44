package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.ViewOffset;
import io.nats.client.api.MessageInfo;
import java.time.Duration;
import java.time.Instant;
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
 * Deletes turns that are older than the retention of their kind, and covered by a snapshot. It
 * checks the oldest turns of a kind when the retention is set, and after a snapshot if the last
 * check is long enough ago. Thread-safe.
 *
 * <p>It also purges turns that a later full-state turn has replaced. If no view of the kind may
 * still have to read them, it does so at once, otherwise when all views have passed the full-state
 * turn. Therefore it scans for full-state turns up to the offset of the slowest view, whenever a
 * view begins or moves. The first scan in a process starts at the beginning of the stream, so it
 * finds turns that an earlier process left. Later scans continue from there. One thread at a time
 * scans a kind. Another process may scan, too, and purges the same turns.
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
        (previous, added) -> previous.age.equals(age) ? previous : added);
    onSnapshotStored(kind);
  }

  /** A snapshot of the kind was stored. */
  void onSnapshotStored(String kind) {
    var now = store.clock().instant();
    var retention = retentions.get(kind);
    if (retention == null || now.isBefore(retention.nextCheck) || !activeKinds.add(kind)) return;
    var pause = retention.age.dividedBy(CHECKS_PER_RETENTION);
    retentions.replace(kind, retention,
        new StreamRetention(retention.age, now.plus(pause.compareTo(MIN_INTERVAL) < 0 ? MIN_INTERVAL : pause)));
    boolean isStarted = false;
    try {
      Thread.ofVirtual().name("forgetting of " + kind).start(() -> run(kind, now.minus(retention.age)));
      isStarted = true;
    } finally {
      if (!isStarted) activeKinds.remove(kind);
    }
  }

  private void run(String kind, Instant cutoff) {
    try {
      delete(kind, cutoff.toEpochMilli());
    } catch (RuntimeException failure) {
      if (!store.isClosed())
        LoggerFactory.getLogger(NatsStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    } finally {
      activeKinds.remove(kind);
    }
  }

  /** Messages in which all turns are old, and which are before that of the snapshot. */
  private void delete(String kind, long cutoffMillis) {
    String filter = store.subjects().turnsOf(kind);
    var snapshotSeqs = new HashMap<String, Long>(); // before these numbers of the stream, by subject
    long nextSeq = 1;
    for (var page = store.log().page(filter, nextSeq, PAGE); !page.isEmpty() && !store.isClosed(); page =
        store.log().page(filter, nextSeq, PAGE)) {
      var lastDeleted = new HashMap<String, Long>();
      for (var message : page) {
        boolean isOld = JournalEntry.read(message).turns().stream().allMatch(turn -> turn.at() < cutoffMillis);
        if (isOld && message.getSeq() < snapshotSeqs.computeIfAbsent(message.getSubject(), this::snapshotSeq))
          lastDeleted.put(message.getSubject(), message.getSeq());
      }
      lastDeleted.forEach(store.log()::purge);
      nextSeq = page.getLast().getSeq() + 1;
    }
  }

  private long snapshotSeq(String subject) {
    return Optional.of(StoreSubjects.actor(subject))
        .flatMap(id -> store.log().lastMessage(store.subjects().snapshot(id)))
        .map(last -> Snapshot.read(last).seq()).orElse(0L);
  }

  // ---- what whole turns replaced

  /** Messages of an actor before this number have only turns that a later whole one replaced. */
  void purgeBefore(Store.ActorId actor, long firstLive) {
    start("purging of " + actor, actor.kind(), () -> {
      var unread = firstUnread(actor.kind());
      if (unread.isEmpty() || firstLive <= unread.get().seq()) purge(actor, firstLive);
    });
  }

  private void purge(Store.ActorId actor, long firstLive) {
    var log = store.log();
    log.retryUntilSettled(() -> log.purge(store.subjects().turns(actor), firstLive - 1));
  }

  /** A view of the kind has begun, has moved, or was forgotten. */
  void onViewMoved(String kind) {
    var sweep = sweeps.computeIfAbsent(kind, HistorySweep::new);
    if (sweep.requests.getAndIncrement() > 0) return; // the thread that runs sees it
    boolean isStarted = false;
    try {
      start("purging of kind " + kind, kind, sweep::run);
      isStarted = true;
    } finally {
      if (!isStarted) sweep.requests.set(0);
    }
  }

  private void start(String name, String kind, Runnable task) {
    Thread.ofVirtual().name(name).start(() -> {
      try {
        task.run();
      } catch (StoreClosedException closed) {
        // the next process does it
      } catch (RuntimeException failure) {
        if (!store.isClosed()) LoggerFactory.getLogger(NatsStore.class)
            .warn("{} keeps turns of kind '{}' that were replaced for now", store, kind, failure);
      }
    });
  }

  /** The first place that some view of the kind has not passed; empty if there is no view. */
  private Optional<StreamHistory.StreamPosition> firstUnread(String kind) {
    var subjects = store.log().countBySubject(store.subjects().turnsOf(Store.VIEWS)).keySet();
    return store.log().lastMessages(subjects.stream().filter(subject -> isTurnsOfKind(kind, subject)).toList()).stream()
        .flatMap(message -> view(message).stream())
        .map(view -> StreamHistory.StreamPosition.behind(view.offset(), kind))
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
    private long nextSeq = 1; // where it continues; used by the running thread

    HistorySweep(String kind) {
      this.kind = kind;
    }

    void run() {
      boolean isFinished = false;
      try {
        while (!isFinished) {
          int seenRequests = requests.get();
          purge();
          isFinished = requests.compareAndSet(seenRequests, 0);
        }
      } finally {
        if (!isFinished) requests.set(0); // it failed: the next move of a view tries again
      }
    }

    private void purge() {
      var unread = firstUnread(kind);
      String filter = store.subjects().turnsOf(kind);
      for (var page = store.log().page(filter, nextSeq, PAGE); !page.isEmpty() && !store.isClosed(); page =
          store.log().page(filter, nextSeq, PAGE)) {
        var lastFullState = new HashMap<String, Long>(); // the last message with a whole turn, by subject
        long afterPassed = nextSeq;
        boolean isUnreadReached = false;
        for (var message : page) {
          isUnreadReached = unread.isPresent() && !isPassed(message, unread.get());
          if (isUnreadReached) break;
          if (JournalEntry.read(message).hasFullState()) lastFullState.put(message.getSubject(), message.getSeq());
          afterPassed = message.getSeq() + 1;
        }
        if (!tryPurge(lastFullState)) return; // such as without a keeper: the next move of a view tries again from here
        nextSeq = afterPassed;
        if (isUnreadReached) return;
      }
    }

    /** All of its turns. */
    private boolean isPassed(MessageInfo message, StreamHistory.StreamPosition unread) {
      return message.getSeq() < unread.seq()
          || message.getSeq() == unread.seq() && unread.index() >= JournalEntry.read(message).turns().size();
    }

    /**
     * Purges the turns that the full states replaced. Repeats failed purges until one deadline for
     * all. Otherwise the turns would stay until a view moves, and perhaps no view ever does.
     */
    private boolean tryPurge(Map<String, Long> lastFullState) {
      var log = store.log();
      var deadline = log.newDeadline();
      var purges = new HashMap<JetStreamLog.WriteAttempt, CompletableFuture<WriteOutcome>>(); // with first outcomes
      lastFullState.forEach((subject, seq) -> {
        JetStreamLog.WriteAttempt attempt = () -> log.purge(subject, seq - 1);
        if (seq > 1) purges.put(attempt, attempt.make());
      });
      return purges.entrySet().stream()
          .map(purge -> log.retryUntilSettled(purge.getKey(), purge.getValue().join(), deadline))
          .allMatch(WriteOutcome.WriteSuccess.class::isInstance);
    }
  }
}
