package io.fibry.nats.store;

import io.fibry.nats.NatsStore;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.text.SafeLogger;
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

/**
 * Deletes turns that are older than the retention of their kind, and covered by a snapshot. It
 * checks the oldest turns of a kind when the retention is set, and after snapshots. It checks a
 * kind at most 16 times within the retention, and at most every five seconds. Thread-safe.
 *
 * <p>It also purges turns that a later full-state turn has replaced. It does so at once if no view
 * of the kind still needs these turns. Otherwise it waits until all views have passed the
 * full-state turn. Therefore it scans for full-state turns up to the offset of the slowest view,
 * whenever a view begins or stores a new offset. The first scan in a process starts at the
 * beginning of the stream, so it finds turns that an earlier process left. Later scans continue
 * where the previous scan ended. One thread at a time scans a kind. Another process may scan, too,
 * and purges the same turns.
 */
public final class StreamHistoryCleaner {
  private static final int CHECKS_PER_RETENTION = 16; // max checks of a kind within its retention
  private static final Duration MIN_INTERVAL = Duration.ofSeconds(5); // between two checks of a kind
  private static final int PAGE = 256;

  /** @param nextCheck the earliest time of the next check of the oldest turns */
  private record StreamRetention(Duration age, Instant nextCheck) {}

  private final StoreContext store;
  private final Map<String, StreamRetention> retentions = new ConcurrentHashMap<>(); // by kind
  private final Set<String> activeKinds = ConcurrentHashMap.newKeySet(); // kinds whose old turns a thread deletes
  private final Map<String, HistorySweep> sweeps = new ConcurrentHashMap<>(); // by kind
  private final Set<String> failedKinds = ConcurrentHashMap.newKeySet(); // kinds whose last purge failed

  public StreamHistoryCleaner(StoreContext store) {
    this.store = store;
  }

  public void setRetention(String kind, Duration age) {
    retentions.merge(kind, new StreamRetention(age, Instant.MIN),
        (previous, added) -> previous.age.equals(age) ? previous : added);
    onSnapshotStored(kind);
  }

  /** Called when a snapshot of the kind was stored. Starts a check if the next check is due. */
  void onSnapshotStored(String kind) {
    var now = store.options().clock().instant();
    var retention = retentions.get(kind);
    if (retention == null || now.isBefore(retention.nextCheck) || !activeKinds.add(kind)) return;
    var pause = retention.age.dividedBy(CHECKS_PER_RETENTION);
    retentions.replace(kind, retention,
        new StreamRetention(retention.age, now.plus(pause.compareTo(MIN_INTERVAL) < 0 ? MIN_INTERVAL : pause)));
    boolean isStarted = false;
    try {
      Thread.ofVirtual().name("deletion of old turns of " + kind).start(() -> run(kind, now.minus(retention.age)));
      isStarted = true;
    } finally {
      if (!isStarted) activeKinds.remove(kind);
    }
  }

  private void run(String kind, Instant cutoff) {
    try {
      deleteOldTurns(kind, cutoff.toEpochMilli());
    } catch (RuntimeException failure) {
      if (!store.isClosed())
        SafeLogger.of(NatsStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    } finally {
      activeKinds.remove(kind);
    }
  }

  /** Deletes messages whose turns are all too old and covered by their actor's snapshot. */
  private void deleteOldTurns(String kind, long cutoffMillis) {
    String filter = store.subjects().turnsFilter(kind);
    var snapshotSeqs = new HashMap<String, Long>(); // number of the message with the snapshot's turn, by subject
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
    return Optional.of(StoreSubjects.actorId(subject))
        .flatMap(id -> store.log().lastMessage(store.subjects().snapshot(id)))
        .map(last -> Snapshot.read(last).seq()).orElse(0L);
  }

  // ---- turns that a full-state turn replaced

  /**
   * Purges the messages of an actor before a number of the stream, if all views have passed them. A
   * later full-state turn has replaced all turns in these messages.
   */
  void purgeBefore(Store.ActorId actor, long firstLiveSeq) {
    start("purging of " + actor, actor.kind(), () -> {
      if (haveViewsPassed(actor.kind(), firstLiveSeq - 1)) purge(actor, firstLiveSeq);
    });
  }

  /** Returns whether all views of the kind have passed the messages up to a stream number. */
  boolean haveViewsPassed(String kind, long lastSeq) {
    return firstUnread(kind).filter(unread -> unread.seq() <= lastSeq).isEmpty();
  }

  private void purge(Store.ActorId actor, long firstLiveSeq) {
    var log = store.log();
    log.retryUntilSettled(() -> log.purge(store.subjects().turns(actor), firstLiveSeq - 1));
  }

  /** Called when a view of the kind has begun, has moved, or was forgotten. Starts a sweep. */
  void onViewMoved(String kind) {
    var sweep = sweeps.computeIfAbsent(kind, HistorySweep::new);
    if (sweep.requests.getAndIncrement() > 0) return; // the running thread sweeps again
    boolean isStarted = false;
    try {
      start("purging of kind " + kind, kind, sweep::run);
      isStarted = true;
    } finally {
      if (!isStarted) sweep.requests.set(0);
    }
  }

  private void start(String name, String kind, Runnable task) {
    Thread.ofVirtual().name(name).start(() -> purge(kind, task));
  }

  /** Runs a task that purges turns, and logs the first of several failures in a row. */
  void purge(String kind, Runnable task) {
    try {
      task.run();
      failedKinds.remove(kind);
    } catch (StoreClosedException closed) {
      // the next process purges these turns
    } catch (RuntimeException failure) {
      if (!store.isClosed() && failedKinds.add(kind)) SafeLogger.of(NatsStore.class)
          .warn("{} could not purge replaced turns of kind '{}', and keeps them for now", store, kind, failure);
    }
  }

  /** Returns the first position that a view of the kind has not passed; empty without a view. */
  private Optional<StreamHistory.StreamPosition> firstUnread(String kind) {
    var subjects = store.log().countBySubject(store.subjects().turnsFilter(StoreBackend.VIEWS)).keySet();
    return store.log().lastMessages(subjects.stream().filter(subject -> isTurnsOfKind(kind, subject)).toList()).stream()
        .flatMap(message -> viewOffset(message).stream())
        .map(view -> StreamHistory.StreamPosition.after(view.offset(), kind))
        .min(Comparator.naturalOrder());
  }

  private static boolean isTurnsOfKind(String kind, String subject) {
    return ViewOffset.kindReadBy(StoreSubjects.actorId(subject)).filter(kind::equals).isPresent();
  }

  /**
   * Returns the offset in the last turn of a view; empty if the view has no turn.
   *
   * @param last the last message of the view's journal
   */
  private Optional<ViewOffset> viewOffset(MessageInfo last) {
    var id = StoreSubjects.actorId(last.getSubject());
    var entry = JournalEntry.read(last);
    if (entry.number() == 0) return Optional.empty();
    var bodies = new TurnReader(store.log(), store.subjects(), id).readUpTo(last.getSeq(), entry);
    return bodies.isEmpty() ? Optional.empty() : ViewOffset.of(id, bodies.getLast());
  }

  /**
   * Purges replaced turns of one kind, on one thread at a time. If a sweep is requested while that
   * thread runs, the thread sweeps again.
   */
  private final class HistorySweep {
    private final String kind;
    private final AtomicInteger requests = new AtomicInteger(); // since the thread began; 0 while no thread runs
    private long nextSeq = 1; // where the next sweep begins; used by the running thread

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
        if (!isFinished) requests.set(0); // the sweep failed: the next move of a view tries again
      }
    }

    private void purge() {
      var unread = firstUnread(kind);
      String filter = store.subjects().turnsFilter(kind);
      for (var page = store.log().page(filter, nextSeq, PAGE); !page.isEmpty() && !store.isClosed(); page =
          store.log().page(filter, nextSeq, PAGE)) {
        var lastFullStateSeqs = new HashMap<String, Long>(); // number of the last message with a full state, by subject
        long seqAfterPassed = nextSeq;
        boolean isUnreadReached = false;
        for (var message : page) {
          isUnreadReached = unread.isPresent() && !isPassed(message, unread.get());
          if (isUnreadReached) break;
          if (JournalEntry.read(message).hasFullState()) lastFullStateSeqs.put(message.getSubject(), message.getSeq());
          seqAfterPassed = message.getSeq() + 1;
        }
        // Fails without a keeper, for example. The next move of a view tries again from nextSeq.
        if (!tryPurge(lastFullStateSeqs)) return;
        nextSeq = seqAfterPassed;
        if (isUnreadReached) return;
      }
    }

    /** Returns whether all views have passed all turns of the message. */
    private boolean isPassed(MessageInfo message, StreamHistory.StreamPosition unread) {
      return message.getSeq() < unread.seq()
          || message.getSeq() == unread.seq() && unread.index() >= JournalEntry.read(message).turns().size();
    }

    /**
     * Purges the turns that the full states replaced, and returns whether all purges succeeded.
     * Failed purges are repeated until a deadline that all share. Without these repeats, the turns
     * would stay until a view moves, and perhaps no view ever does.
     */
    private boolean tryPurge(Map<String, Long> lastFullStateSeqs) {
      var log = store.log();
      var deadline = log.newDeadline();
      // the first outcomes, by attempt
      var purges = new HashMap<JetStreamLog.WriteAttempt, CompletableFuture<WriteOutcome>>();
      lastFullStateSeqs.forEach((subject, seq) -> {
        JetStreamLog.WriteAttempt attempt = () -> log.purge(subject, seq - 1);
        if (seq > 1) purges.put(attempt, attempt.make());
      });
      return purges.entrySet().stream()
          .map(purge -> log.retryUntilSettled(purge.getKey(), purge.getValue().join(), deadline))
          .allMatch(WriteOutcome.WriteSuccess.class::isInstance);
    }
  }
}
