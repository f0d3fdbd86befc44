package io.fibry.jdbc;

import static io.fibry.jdbc.Columns.Type.NUMBER;
import static io.fibry.jdbc.Columns.Type.TEXT;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/**
 * Deletes turns that are older than is wanted, and behind a snapshot. It looks at the oldest turns
 * of a kind when it hears of the age, and when there are snapshots, now and then. Thread-safe.
 */
final class Forgetting {
  private static final int OFTEN = 16; // times while a turn gets old

  /** @param next when it looks at the turns again */
  private record Age(Duration age, Instant next) {}

  private final TableStore store;
  private final Database database;
  private final Dialect dialect;
  private final Readers readers;
  private final Map<String, Age> ages = new ConcurrentHashMap<>(); // by kind

  Forgetting(TableStore store, Database database, Dialect dialect, Readers readers) {
    this.store = store;
    this.database = database;
    this.dialect = dialect;
    this.readers = readers;
  }

  void begin(String kind, Duration age) {
    ages.put(kind, new Age(age, Instant.MIN));
    look(kind);
  }

  /** A snapshot of the kind was stored. */
  void look(String kind) {
    var now = store.clock().instant();
    var age = ages.get(kind);
    if (age == null || now.isBefore(age.next)) return;
    if (ages.replace(kind, age, new Age(age.age, now.plus(age.age.dividedBy(OFTEN)))))
      readers.execute(() -> delete(kind, now.minus(age.age), Place.BEGINNING));
  }

  /** A page; then the next one, when other readers have had their turn. */
  private void delete(String kind, Instant before, Place behind) {
    try {
      var page = database.read(connection -> Reads.ages(connection, dialect, kind, behind));
      var gone = new Columns(TEXT, TEXT, NUMBER);
      boolean over = page.isEmpty();
      for (var turn : page) {
        if (turn.millis() >= Reads.millis(before)) over = true;
        else if (turn.number() <= turn.snapshot())
          gone.add(kind, Texts.stored(turn.actor().key()), turn.number());
      }
      if (!gone.isEmpty()) database.commit(dialect, connection -> gone.run(connection, Dialect.GONE));
      if (!over) readers.execute(() -> delete(kind, before, page.getLast().place()));
    } catch (SQLException | RuntimeException failure) {
      LoggerFactory.getLogger(JdbcStore.class).warn("{} keeps old turns of kind '{}' for now", store, kind, failure);
    }
  }
}
