package io.fibry.jdbc;

import static io.fibry.jdbc.StatementRows.ColumnType.NUMBER;
import static io.fibry.jdbc.StatementRows.ColumnType.TEXT;

import io.fibry.text.SafeLogger;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Deletes turns that are older than the retention of their kind, and covered by a snapshot. It
 * checks the oldest turns of a kind when the retention is set, and after snapshots, but at most 16
 * times within the retention. Thread-safe.
 *
 * <p>It also deletes the turns of ended actors, when all views of the kind have passed the end. It
 * scans for ends up to the position of the slowest view, whenever a view begins or moves. A view
 * moves when it stores a new offset. The first scan in a process starts at the beginning of the
 * history, so it finds turns that an earlier process left. Later scans continue at the last scanned
 * turn. Two scans at the same time, in one process or two, do no harm, because both delete the same
 * turns. A failed scan is repeated after the first commit that comes at least a minute later.
 */
final class TableHistoryCleaner {
  private static final int CHECKS_PER_RETENTION = 16; // max checks of a kind within its retention
  private static final Duration RETRY_PAUSE = Duration.ofMinutes(1); // after a failed scan

  /** @param nextCheck the earliest time of the next check */
  private record TableRetention(Duration age, Instant nextCheck) {}

  private final String storeName;
  private final InstantSource clock;
  private final Database database;
  private final SqlDialect dialect;
  private final ReaderThreads readerPool;
  private final Map<String, TableRetention> retentions = new ConcurrentHashMap<>(); // by kind
  // position of the last scanned turn, by kind
  private final Map<String, TablePosition> scannedUntil = new ConcurrentHashMap<>();
  private final Set<String> dueKinds = ConcurrentHashMap.newKeySet(); // kinds that must be scanned for ends
  private final Map<String, Instant> retryTimes = new ConcurrentHashMap<>(); // of failed scans, by kind

  TableHistoryCleaner(String storeName, InstantSource clock, Database database, SqlDialect dialect,
      ReaderThreads readerPool) {
    this.storeName = storeName;
    this.clock = clock;
    this.database = database;
    this.dialect = dialect;
    this.readerPool = readerPool;
  }

  /** Called for each actor of the kind that is loaded. Only a new age makes a check due. */
  void setRetention(String kind, Duration age) {
    retentions.merge(kind, new TableRetention(age, Instant.MIN),
        (previous, added) -> previous.age.equals(age) ? previous : added);
    onSnapshotStored(kind);
  }

  /** Starts a check, if one is due. Called when a snapshot of the kind was stored. */
  void onSnapshotStored(String kind) {
    var now = clock.instant();
    var retention = retentions.get(kind);
    if (retention == null || now.isBefore(retention.nextCheck)) return;
    if (retentions.replace(kind, retention,
        new TableRetention(retention.age, now.plus(retention.age.dividedBy(CHECKS_PER_RETENTION)))))
      readerPool.execute(() -> delete(kind, now.minus(retention.age), TablePosition.BEGINNING));
  }

  /** Checks one page of turns. The next page is another task, so that other reads come between. */
  private void delete(String kind, Instant cutoff, TablePosition position) {
    try {
      var page = database.read(connection -> StoreTransactions.turnSummaries(connection, dialect, kind, position));
      var toDelete = new StatementRows(TEXT, TEXT, NUMBER);
      boolean isFinished = page.isEmpty();
      for (var turn : page) {
        if (turn.millis() >= StoreTransactions.millis(cutoff)) isFinished = true;
        else if (turn.number() <= turn.snapshotNumber())
          toDelete.add(kind, SqlText.encode(turn.actor().key()), turn.number());
      }
      if (!toDelete.isEmpty())
        database.commit(dialect, transaction -> toDelete.run(transaction.begin(), SqlDialect.DELETE_TURNS));
      if (!isFinished) readerPool.execute(() -> delete(kind, cutoff, page.getLast().position()));
    } catch (SQLException | RuntimeException failure) {
      SafeLogger.of(JdbcStore.class).warn("{} keeps old turns of kind '{}' for now", storeName, kind,
          failure);
    }
  }

  // ---- actors that have ended

  /** Starts a scan. Called when a view of the kind has begun, has moved, or was forgotten. */
  void onViewMoved(String kind) {
    if (dueKinds.add(kind)) readerPool.execute(() -> scan(kind));
  }

  /**
   * Repeats failed scans whose pause is over. Called after each commit: if no view moves any more,
   * no other call would repeat the scan.
   */
  void retryScans() {
    if (retryTimes.isEmpty()) return;
    var now = clock.instant();
    retryTimes.forEach((kind, time) -> {
      if (!now.isBefore(time) && retryTimes.remove(kind, time)) onViewMoved(kind);
    });
  }

  /** Scans one page of turns. The next page is another task, so that other reads come between. */
  private void scan(String kind) {
    dueKinds.remove(kind); // before the scan, so that a view that moves from now on starts another scan
    try {
      var views = database.read(connection -> StoreTransactions.views(connection, dialect));
      var slowestView = views.stream().filter(view -> view.kind().equals(kind))
          .map(view -> TableOffset.of(view.offset(), kind).position()).min(Comparator.naturalOrder());
      var start = scannedUntil.getOrDefault(kind, TablePosition.BEGINNING);
      var page = database.read(connection -> StoreTransactions.turnSummaries(connection, dialect, kind, start));
      // by key: the number of the last turn with the full state, which is the end of an actor.
      // Earlier turns stay only before an end; any other turn with the full state deletes them when
      // it is written
      var lastEnds = new HashMap<String, Long>();
      var lastScanned = start;
      for (var turn : page) {
        if (slowestView.isPresent() && turn.position().compareTo(slowestView.get()) > 0) break;
        lastScanned = turn.position();
        if (turn.isFullState()) lastEnds.merge(turn.actor().key(), turn.number(), Math::max);
      }
      var deadTurns = new StatementRows(TEXT, TEXT, NUMBER);
      lastEnds.forEach((key, number) -> deadTurns.add(kind, SqlText.encode(key), number));
      if (!deadTurns.isEmpty())
        database.commit(dialect, transaction -> deadTurns.run(transaction.begin(), SqlDialect.DELETE_EARLIER_TURNS));
      var reachedPosition = lastScanned;
      scannedUntil.merge(kind, reachedPosition, (old, reached) -> old.compareTo(reached) < 0 ? reached : old);
      if (!page.isEmpty() && lastScanned.equals(page.getLast().position())) onViewMoved(kind);
    } catch (SQLException | RuntimeException failure) {
      SafeLogger.of(JdbcStore.class).warn("{} keeps turns of ended actors of kind '{}' for now", storeName,
          kind, failure);
      retryTimes.put(kind, clock.instant().plus(RETRY_PAUSE));
    }
  }
}
