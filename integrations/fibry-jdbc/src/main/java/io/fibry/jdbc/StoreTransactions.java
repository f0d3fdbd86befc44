package io.fibry.jdbc;

import io.fibry.jdbc.StatementRows.ColumnType;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The queries of a store. The caller runs each of them in one transaction. */
final class StoreTransactions {
  private static final Instant MIN_TIME = Instant.ofEpochMilli(Long.MIN_VALUE);
  private static final Instant MAX_TIME = Instant.ofEpochMilli(Long.MAX_VALUE);

  /** Converts a row. */
  private interface RowMapper<T> {
    T map(ResultSet row) throws SQLException;
  }

  /** A pending message, without its body. */
  record DueMessage(Store.ActorId actor, String id, Instant dueTime) {}

  private StoreTransactions() {}

  /** Returns the milliseconds since 1970, as the tables have them, or the nearest long. */
  static long millis(Instant time) {
    return time.isAfter(MAX_TIME) ? Long.MAX_VALUE : time.isBefore(MIN_TIME) ? Long.MIN_VALUE : time.toEpochMilli();
  }

  /** Runs a query that may be a transaction of its own, so it sets the options of a transaction. */
  private static <T> List<T> readAll(Connection connection, SqlDialect dialect, String sql, RowMapper<T> mapper,
      Object... parameters) throws SQLException {
    String options = dialect.setReadOptions();
    try (var statement = connection.prepareStatement(options + sql)) {
      for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
      statement.execute();
      if (!options.isEmpty()) statement.getMoreResults(); // skips the row of the options
      try (var rows = statement.getResultSet()) {
        var results = new ArrayList<T>();
        while (rows.next()) results.add(mapper.map(rows));
        return results;
      }
    }
  }

  // ---- an actor

  private record LifeRow(long number, long lastTurn) {}

  private record TurnRow(long number, boolean isFullState, byte[] body) {}

  /**
   * Begins a life of each actor, and reads the actors. Until the commit, no other life of these
   * actors begins, and no turn of these actors is stored.
   *
   * @param actors actors with different keys
   * @return an element for each actor, in their order
   */
  static List<StoreBackend.LoadedActor> load(Transaction transaction, List<Store.ActorId> actors)
      throws SQLException {
    var lives = new HashMap<Store.ActorId, LifeRow>();
    var turnRows = new HashMap<Store.ActorId, List<TurnRow>>();
    var pendingIds = new HashMap<Store.ActorId, List<String>>();
    var keys = toRows(actors);
    transaction.run(beginLives(transaction.dialect(), actors, lives)
        .add(SqlDialect.READ_ACTORS, keys,
            row -> turnRows.computeIfAbsent(readActor(row), actor -> new ArrayList<>())
                .add(new TurnRow(row.getLong(3), row.getBoolean(4), row.getBytes(5))))
        .add(SqlDialect.MESSAGE_IDS, keys,
            row -> pendingIds.computeIfAbsent(readActor(row), actor -> new ArrayList<>())
                .add(SqlText.decode(row.getString(3)))));
    var loaded = new ArrayList<StoreBackend.LoadedActor>();
    for (var actor : actors) {
      var life = lives.get(actor);
      var bodies = bodies(actor, turnRows.getOrDefault(actor, List.of()), life.lastTurn);
      loaded.add(new StoreBackend.LoadedActor(life.number, life.lastTurn, bodies,
          pendingIds.getOrDefault(actor, List.of())));
    }
    return loaded;
  }

  /**
   * Returns the statements that begin lives, and add them to a map. A transaction of several actors
   * waits only shortly for a row that another transaction has locked, because the other actors
   * wait, too.
   */
  private static StatementSequence beginLives(SqlDialect dialect, List<Store.ActorId> actors,
      Map<Store.ActorId, LifeRow> lives) {
    return new StatementSequence().add(actors.size() > 1 ? dialect.setLockLimit() : "")
        .add(dialect.beginLives(), toRows(actors),
            row -> lives.put(readActor(row), new LifeRow(row.getLong(3), row.getLong(4))));
  }

  private static StatementRows toRows(List<Store.ActorId> actors) {
    var rows = new StatementRows(ColumnType.TEXT, ColumnType.TEXT);
    for (var actor : actors) rows.add(actor.kind(), SqlText.encode(actor.key()));
    return rows;
  }

  private static Store.ActorId readActor(ResultSet row) throws SQLException {
    return new Store.ActorId(row.getString(1), SqlText.decode(row.getString(2)));
  }

  /** Begins a life whose first turn follows the turn {@code lastTurn}. */
  static long beginLife(Transaction transaction, Store.ActorId actor, long lastTurn) throws SQLException {
    var lives = new HashMap<Store.ActorId, LifeRow>();
    transaction.run(beginLives(transaction.dialect(), List.of(actor), lives));
    try (var statement = transaction.connection().prepareStatement(SqlDialect.SET_LAST_TURN)) {
      statement.setLong(1, lastTurn);
      statement.setString(2, actor.kind());
      statement.setString(3, SqlText.encode(actor.key()));
      statement.executeUpdate();
    }
    return lives.get(actor).number;
  }

  /** Returns the bodies of the last full-state turn and of the turns after it. */
  private static List<byte[]> bodies(Store.ActorId actor, List<TurnRow> turnRows, long lastTurn) {
    var bodies = new ArrayList<byte[]>();
    long lastNumber = 0;
    for (var turn : turnRows) {
      if (turn.isFullState) bodies.clear();
      else if (turn.number != lastNumber + 1) throw missingTurn(actor, lastNumber + 1);
      bodies.add(turn.body);
      lastNumber = turn.number;
    }
    if (lastNumber != lastTurn) throw lastTurnMismatch(actor, lastNumber, lastTurn);
    return bodies;
  }

  private static StoreDamagedException missingTurn(Store.ActorId actor, long number) {
    return new StoreDamagedException("turn " + number + " of " + actor
        + " is missing in the table fibry_turn. Other actors are not affected; put the row back");
  }

  /**
   * Returns the exception for a number in fibry_actor that does not fit the turns in fibry_turn.
   */
  private static StoreDamagedException lastTurnMismatch(Store.ActorId actor, long lastStored, long last) {
    long firstDifferent = Math.min(lastStored, last) + 1;
    long lastDifferent = Math.max(lastStored, last);
    boolean isSingle = firstDifferent == lastDifferent;
    String turns = (isSingle ? "turn " + lastDifferent : "turns " + firstDifferent + " to " + lastDifferent) + " of "
        + actor + (isSingle ? " is " : " are ");
    String difference = lastStored > last ? "in the table fibry_turn, though fibry_actor says that turn " + last
        + " is the last"
        : "missing at the end of the table fibry_turn";
    String choice = lastStored > last ? "" : isSingle ? "put the row back, or abandon the turn: "
        : "put the rows back, or abandon the turns: ";
    return new StoreDamagedException(turns + difference + ". Other actors are not affected; " + choice
        + "set last to " + lastStored + " in the row of the actor in fibry_actor");
  }

  /** Returns at most {@code max} actors after the given actor, by kind and key. */
  static List<Store.ActorId> actors(Connection connection, SqlDialect dialect, Store.ActorId after, int max)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.ACTORS,
        StoreTransactions::readActor, after.kind(), SqlText.encode(after.key()), max);
  }

  // ---- history

  static List<StoreBackend.StoredTurn> history(Connection connection, SqlDialect dialect, String kind,
      TablePosition position)
      throws SQLException {
    return readAll(connection, dialect, dialect.history(), StoreTransactions::toStoredTurn, kind, position.tx(),
        position.number());
  }

  /** Returns all turns of an actor, including turns before its snapshot. */
  static List<StoreBackend.StoredTurn> turns(Connection connection, SqlDialect dialect, Store.ActorId actor)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.TURNS_OF_ACTOR, StoreTransactions::toStoredTurn, actor.kind(),
        SqlText.encode(actor.key()));
  }

  private static StoreBackend.StoredTurn toStoredTurn(ResultSet row) throws SQLException {
    var turn = new TableOffset.TurnId(SqlText.decode(row.getString(3)), row.getLong(4));
    var offset = new TableOffset(readPosition(row), Optional.of(turn));
    return new StoreBackend.StoredTurn(offset.toString(), turn.key(), turn.number(),
        Instant.ofEpochMilli(row.getLong(5)), row.getBoolean(6), row.getBytes(7));
  }

  /**
   * Returns whether the turn at an offset was lost. If the offset does not name its turn, returns
   * whether its transaction was lost.
   */
  static boolean isLost(Connection connection, SqlDialect dialect, String kind, TableOffset offset)
      throws SQLException {
    var position = offset.position();
    if (offset.turn().isEmpty())
      return readAll(connection, dialect, "select " + dialect.isAhead(), row -> row.getBoolean(1), position.tx())
          .getFirst();
    String actor = SqlText.encode(offset.turn().get().key());
    long number = offset.turn().get().number();
    return readAll(connection, dialect, dialect.isTurnLost(), row -> row.getBoolean(1), position.tx(), kind, actor,
        number,
        position.toString(),
        kind, actor, number).getFirst();
  }

  private static TablePosition readPosition(ResultSet row) throws SQLException {
    return new TablePosition(row.getString(1), row.getLong(2));
  }

  /**
   * @param snapshotNumber the turn number of the actor's snapshot, or 0 if the actor has no
   * snapshot
   */
  record TurnSummary(TablePosition position, Store.ActorId actor, long number, long millis, long snapshotNumber,
      boolean isFullState) {}

  static List<TurnSummary> turnSummaries(Connection connection, SqlDialect dialect, String kind, TablePosition position)
      throws SQLException {
    return readAll(connection, dialect, dialect.turnSummaries(),
        row -> new TurnSummary(readPosition(row), new Store.ActorId(kind, SqlText.decode(row.getString(3))),
            row.getLong(4),
            row.getLong(5),
            row.getLong(6), row.getBoolean(7)),
        kind, position.tx(), position.number());
  }

  private record TurnBody(Store.ActorId actor, byte[] bytes) {}

  /** Returns the offsets of all views that were not forgotten. */
  static Collection<ViewOffset> views(Connection connection, SqlDialect dialect) throws SQLException {
    var views = new HashMap<Store.ActorId, ViewOffset>();
    for (var body : readAll(connection, dialect, SqlDialect.TURN_BODIES,
        row -> new TurnBody(new Store.ActorId(StoreBackend.VIEWS, SqlText.decode(row.getString(1))), row.getBytes(2)),
        StoreBackend.VIEWS))
      ViewOffset.of(body.actor, body.bytes).ifPresentOrElse(view -> views.put(body.actor, view),
          () -> views.remove(body.actor));
    return views.values();
  }

  static boolean hasTurnsOfOtherDatabase(Connection connection, SqlDialect dialect, String kind) throws SQLException {
    return readAll(connection, dialect, dialect.anyForeign(), row -> row.getBoolean(1), kind).getFirst();
  }

  // ---- pending messages

  static List<StoreBackend.PendingMessage> pending(Connection connection, SqlDialect dialect, Store.ActorId actor,
      Instant until, int max)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.PENDING_OF_ACTOR,
        row -> new StoreBackend.PendingMessage(actor, SqlText.decode(row.getString(1)),
            Instant.ofEpochMilli(row.getLong(2)), row.getBytes(3)),
        actor.kind(), SqlText.encode(actor.key()),
        millis(until),
        max);
  }

  static Optional<Instant> dueTime(Connection connection, SqlDialect dialect, Store.ActorId actor, String id)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.DUE_TIME, row -> Instant.ofEpochMilli(row.getLong(1)), actor.kind(),
        SqlText.encode(actor.key()), SqlText.encode(id)).stream().findFirst();
  }

  static Optional<Instant> nextDueTime(Connection connection, SqlDialect dialect, Store.ActorId actor, Instant after)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.NEXT_DUE_TIME,
        row -> Optional.ofNullable(row.getObject(1, Long.class)),
        actor.kind(),
        SqlText.encode(actor.key()), millis(after)).getFirst().map(Instant::ofEpochMilli);
  }

  /** Returns at most {@code max} messages of a kind after the given message, by actor and id. */
  static List<DueMessage> pending(Connection connection, SqlDialect dialect, String kind, DueMessage after, int max)
      throws SQLException {
    return readAll(connection, dialect, SqlDialect.PENDING_OF_KIND,
        row -> new DueMessage(new Store.ActorId(kind, SqlText.decode(row.getString(1))),
            SqlText.decode(row.getString(2)),
            Instant.ofEpochMilli(row.getLong(3))),
        kind, SqlText.encode(after.actor.key()), SqlText.encode(after.id), max);
  }
}
