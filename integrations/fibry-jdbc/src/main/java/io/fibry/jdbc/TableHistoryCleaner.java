package io.fibry.jdbc;

import static io.fibry.jdbc.StatementRows.ColumnType.NUMBER;
import static io.fibry.jdbc.StatementRows.ColumnType.TEXT;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/**
 * Deletes turns that are older than is wanted, and behind a snapshot. It looks at the oldest turns
 * of a kind when it hears of the age, and when there are snapshots, now and then. Thread-safe.
 *
 * <p>Deletes the turns of ended actors, too, when all views of the kind have passed the end. It
 * looks for ends up to the place of the slowest view, when a view begins and when one moves. The
 * first look in this process begins at the beginning of the history, later looks continue from
 * there. So what a process that ended has left is found by the next one. Two looks at a time, here
 * or in two processes, delete the same turns.
 */
final class TableHistoryCleaner {
  private static final int CHECKS_PER_RETENTION = 16; // times while a turn gets old

  /** @param nextCheck when it looks at the turns again */
  private record TableRetention(Duration age, Instant nextCheck) {}

  private final TableStore store;
  private final Database database;
  private final SqlDialect dialect;
  private final ReaderPool readerPool;
  private final Map<String, TableRetention> retentions = new ConcurrentHashMap<>(); // by kind
  private final Map<String, TablePosition> sweptUntil = new ConcurrentHashMap<>(); // up to there, by kind
  private final Set<String> dueKinds = ConcurrentHashMap.newKeySet(); // kinds whose ends are to be looked for

  TableHistoryCleaner(TableStore store, Database database, SqlDialect dialect, ReaderPool readerPool) {
    this.store = store;
    this.database = database;
    this.dialect = dialect;
    this.readerPool = readerPool;
  }

  void begin(String kind, Duration age) {
    retentions.put(kind, new TableRetention(age, Instant.MIN));
    onSnapshotStored(kind);
  }

  /** A snapshot of the kind was stored. */
  void onSnapshotStored(String kind) {
    var now = store.clock().instant();
    var age = retentions.get(kind);
    if (age == null || now.isBefore(age.nextCheck)) return;
    if (retentions.replace(kind, age, new TableRetention(age.age, now.plus(age.age.dividedBy(CHECKS_PER_RETENTION)))))
      readerPool.execute(() -> delete(kind, now.minus(age.age), TablePosition.BEGINNING));
  }

  /** A page; then the next one, when other readers have had their turn. */
  private void delete(String kind, Instant before, TablePosition behind) {
    try {
      var page = database.read(connection -> StoreQueries.ages(connection, dialect, kind, behind));
      var gone = new StatementRows(TEXT, TEXT, NUMBER);
      boolean over = page.isEmpty();
      for (var turn : page) {
        if (turn.millis() >= StoreQueries.millis(before)) over = true;
        else if (turn.number() <= turn.snapshot())
          gone.add(kind, SqlText.encode(turn.actor().key()), turn.number());
      }
      if (!gone.isEmpty()) database.commit(dialect, connection -> gone.run(connection, SqlDialect.GONE));
      if (!over) readerPool.execute(() -> delete(kind, before, page.getLast().place()));
    } catch (SQLException | RuntimeException failure) {
      LoggerFactory.getLogger(JdbcStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    }
  }

  // ---- actors that have ended

  /** A view of the kind has begun, has moved, or was forgotten. */
  void onViewMoved(String kind) {
    if (dueKinds.add(kind)) readerPool.execute(() -> sweep(kind));
  }

  /** A page; then the next one, when other readers have had their turn. */
  private void sweep(String kind) {
    dueKinds.remove(kind); // first: a view that moves from now on is looked at again
    try {
      var least = database.read(StoreQueries::views).stream().filter(view -> view.kind().equals(kind))
          .map(view -> TablePosition.of(view.offset(), kind)).min(Comparator.naturalOrder());
      var from = sweptUntil.getOrDefault(kind, TablePosition.BEGINNING);
      var page = database.read(connection -> StoreQueries.ages(connection, dialect, kind, from));
      var ends = new HashMap<String, Long>(); // the last one, by key
      var to = from;
      for (var turn : page) {
        if (least.isPresent() && turn.place().compareTo(least.get()) > 0) break;
        to = turn.place();
        if (turn.whole()) ends.merge(turn.actor().key(), turn.number(), Math::max);
      }
      var dead = new StatementRows(TEXT, TEXT, NUMBER);
      ends.forEach((key, number) -> dead.add(kind, SqlText.encode(key), number));
      if (!dead.isEmpty()) database.commit(dialect, connection -> dead.run(connection, SqlDialect.DEAD));
      var reached = to;
      sweptUntil.merge(kind, reached, (known, here) -> known.compareTo(here) < 0 ? here : known);
      if (!page.isEmpty() && to.equals(page.getLast().place())) onViewMoved(kind);
    } catch (SQLException | RuntimeException failure) {
      LoggerFactory.getLogger(JdbcStore.class).warn("{} keeps turns of actors of kind '{}' that ended for now", store,
          kind, failure);
    }
  }
}
