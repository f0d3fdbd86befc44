package io.fibry.jdbc;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.ViewOffset;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;

/** The queries of a store, each in one transaction. */
final class StoreQueries {
  private static final Instant FIRST = Instant.ofEpochMilli(Long.MIN_VALUE);
  private static final Instant LAST = Instant.ofEpochMilli(Long.MAX_VALUE);

  /** Makes something of a row. */
  private interface RowMapper<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** When a message for an actor is due. */
  record DueMessage(Store.ActorId actor, String id, Instant at) {}

  private StoreQueries() {}

  /** Returns a time in the precision of the tables. */
  static long millis(Instant time) {
    return time.isAfter(LAST) ? Long.MAX_VALUE : time.isBefore(FIRST) ? Long.MIN_VALUE : time.toEpochMilli();
  }

  private static <T> List<T> queryAll(Connection connection, String sql, RowMapper<T> reader, Object... given)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < given.length; i++) statement.setObject(i + 1, given[i]);
      try (var rows = statement.executeQuery()) {
        var all = new ArrayList<T>();
        while (rows.next()) all.add(reader.read(rows));
        return all;
      }
    }
  }

  // ---- an actor

  private record LifeRow(long number, long last) {}

  private record TurnRow(long number, boolean whole, byte[] body) {}

  /** Begins a life. Until the commit, no other one begins, and nobody stores a turn. */
  static Store.LoadedActor load(Connection connection, SqlDialect dialect, Store.ActorId actor) throws SQLException {
    String kind = actor.kind();
    String key = SqlText.encode(actor.key());
    var life = queryAll(connection, dialect.begin(), row -> new LifeRow(row.getLong(1), row.getLong(2)), kind, key)
        .getFirst();
    var stored =
        queryAll(connection, SqlDialect.READ, row -> new TurnRow(row.getLong(1), row.getBoolean(2), row.getBytes(3)),
            kind, key, kind, key, kind, key);
    var ids = queryAll(connection, SqlDialect.IDS, row -> SqlText.decode(row.getString(1)), kind, key);
    return new Store.LoadedActor(life.number, life.last, bodies(actor, stored, life.last), ids);
  }

  /** Begins a life, the first turn of which has another number. */
  static long beginLife(Connection connection, SqlDialect dialect, Store.ActorId actor, long last) throws SQLException {
    String kind = actor.kind();
    String key = SqlText.encode(actor.key());
    long life = queryAll(connection, dialect.begin(), row -> row.getLong(1), kind, key).getFirst();
    try (var statement = connection.prepareStatement(SqlDialect.LAST)) {
      statement.setLong(1, last);
      statement.setString(2, kind);
      statement.setString(3, key);
      statement.executeUpdate();
    }
    return life;
  }

  /** Returns the body of the last whole turn, and those of the turns after it. */
  private static List<byte[]> bodies(Store.ActorId actor, List<TurnRow> stored, long last) {
    var bodies = new ArrayList<byte[]>();
    long before = 0;
    for (var turn : stored) {
      if (turn.whole) bodies.clear();
      else if (turn.number != before + 1) throw damaged(actor, before + 1);
      bodies.add(turn.body);
      before = turn.number;
    }
    if (before != last) throw lastTurnMismatch(actor, before, last);
    return bodies;
  }

  private static StoreDamagedException damaged(Store.ActorId actor, long number) {
    return new StoreDamagedException("turn " + number + " of " + actor
        + " is missing in the table fibry_turn. Other actors are not concerned; put the row back");
  }

  /** The row of the actor and its turns differ, such as after one table was put back alone. */
  private static StoreDamagedException lastTurnMismatch(Store.ActorId actor, long stored, long last) {
    long first = Math.min(stored, last) + 1;
    long end = Math.max(stored, last);
    boolean one = first == end;
    String turns = (one ? "turn " + end : "turns " + first + " to " + end) + " of " + actor + (one ? " is " : " are ");
    String what = stored > last ? "in the table fibry_turn, though fibry_actor says that turn " + last + " is the last"
        : "missing at the end of the table fibry_turn";
    String choice = stored > last ? "" : one ? "put the row back, or give the turn up: "
        : "put the rows back, or give the turns up: ";
    return new StoreDamagedException(turns + what + ". Other actors are not concerned; " + choice
        + "set last to " + stored + " in the row of the actor in fibry_actor");
  }

  /** Those behind one. */
  static List<Store.ActorId> actors(Connection connection, Store.ActorId behind, int max) throws SQLException {
    return queryAll(connection, SqlDialect.ACTORS,
        row -> new Store.ActorId(row.getString(1), SqlText.decode(row.getString(2))),
        behind.kind(), SqlText.encode(behind.key()), max);
  }

  // ---- history

  static List<Store.StoredTurn> history(Connection connection, SqlDialect dialect, String kind, TablePosition behind)
      throws SQLException {
    return queryAll(connection, dialect.history(), StoreQueries::toStoredTurn, kind, behind.tx(), behind.number());
  }

  /** Returns all turns of an actor, including turns before its snapshot. */
  static List<Store.StoredTurn> turns(Connection connection, Store.ActorId actor) throws SQLException {
    return queryAll(connection, SqlDialect.TURNS_OF_ACTOR, StoreQueries::toStoredTurn, actor.kind(),
        SqlText.encode(actor.key()));
  }

  private static Store.StoredTurn toStoredTurn(ResultSet row) throws SQLException {
    return new Store.StoredTurn(readPosition(row).toString(), SqlText.decode(row.getString(3)), row.getLong(4),
        Instant.ofEpochMilli(row.getLong(5)), row.getBoolean(6), row.getBytes(7));
  }

  /** @param seen the turn that was read last at the place, or empty in another process */
  static boolean isLost(Connection connection, SqlDialect dialect, String kind, TablePosition position,
      Optional<Store.StoredTurn> seen) throws SQLException {
    if (seen.isEmpty())
      return queryAll(connection, "select " + dialect.ahead(), row -> row.getBoolean(1), position.tx()).getFirst();
    String actor = SqlText.encode(seen.get().key());
    long number = seen.get().number();
    return queryAll(connection, dialect.lostTurns(), row -> row.getBoolean(1), position.tx(), kind, actor, number,
        position.toString(),
        kind, actor, number).getFirst();
  }

  private static TablePosition readPosition(ResultSet row) throws SQLException {
    return new TablePosition(row.getString(1), row.getLong(2));
  }

  /** @param snapshot the number of its actor's snapshot, or 0 if there is none */
  record TurnAge(TablePosition place, Store.ActorId actor, long number, long millis, long snapshot, boolean whole) {}

  static List<TurnAge> ages(Connection connection, SqlDialect dialect, String kind, TablePosition behind)
      throws SQLException {
    return queryAll(connection, dialect.ages(),
        row -> new TurnAge(readPosition(row), new Store.ActorId(kind, SqlText.decode(row.getString(3))), row.getLong(4),
            row.getLong(5),
            row.getLong(6), row.getBoolean(7)),
        kind, behind.tx(), behind.number());
  }

  private record TurnBody(Store.ActorId actor, byte[] bytes) {}

  /** All that were not forgotten. */
  static Collection<ViewOffset> views(Connection connection) throws SQLException {
    var views = new HashMap<Store.ActorId, ViewOffset>();
    for (var body : queryAll(connection, SqlDialect.BODIES,
        row -> new TurnBody(new Store.ActorId(Store.VIEWS, SqlText.decode(row.getString(1))), row.getBytes(2)),
        Store.VIEWS))
      ViewOffset.of(body.actor, body.bytes).ifPresentOrElse(view -> views.put(body.actor, view),
          () -> views.remove(body.actor));
    return views.values();
  }

  static boolean hasForeignRows(Connection connection, SqlDialect dialect, String kind) throws SQLException {
    return queryAll(connection, dialect.anyForeign(), row -> row.getBoolean(1), kind).getFirst();
  }

  // ---- what waits

  static List<Store.PendingMessage> pending(Connection connection, Store.ActorId actor, Instant until, int max)
      throws SQLException {
    return queryAll(connection, SqlDialect.WAITING,
        row -> new Store.PendingMessage(actor, SqlText.decode(row.getString(1)),
            Instant.ofEpochMilli(row.getLong(2)), row.getBytes(3)),
        actor.kind(), SqlText.encode(actor.key()),
        millis(until),
        max);
  }

  static Optional<Instant> dueTime(Connection connection, Store.ActorId actor, String id) throws SQLException {
    return queryAll(connection, SqlDialect.DUE, row -> Instant.ofEpochMilli(row.getLong(1)), actor.kind(),
        SqlText.encode(actor.key()), SqlText.encode(id)).stream().findFirst();
  }

  static Optional<Instant> nextDueTime(Connection connection, Store.ActorId actor, Instant after) throws SQLException {
    return queryAll(connection, SqlDialect.NEXT, row -> Optional.ofNullable(row.getObject(1, Long.class)), actor.kind(),
        SqlText.encode(actor.key()), millis(after)).getFirst().map(Instant::ofEpochMilli);
  }

  /** Those behind an actor and an id. */
  static List<DueMessage> pending(Connection connection, String kind, DueMessage behind, int max) throws SQLException {
    return queryAll(connection, SqlDialect.ALL_WAITING,
        row -> new DueMessage(new Store.ActorId(kind, SqlText.decode(row.getString(1))),
            SqlText.decode(row.getString(2)),
            Instant.ofEpochMilli(row.getLong(3))),
        kind, SqlText.encode(behind.actor.key()), SqlText.encode(behind.id), max);
  }
}
