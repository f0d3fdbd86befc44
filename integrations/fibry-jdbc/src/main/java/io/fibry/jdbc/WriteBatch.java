package io.fibry.jdbc;

import static io.fibry.jdbc.StatementRows.ColumnType.BYTES;
import static io.fibry.jdbc.StatementRows.ColumnType.FLAG;
import static io.fibry.jdbc.StatementRows.ColumnType.NUMBER;
import static io.fibry.jdbc.StatementRows.ColumnType.TEXT;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.store.spi.PendingWrite;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One transaction that stores entries, and the outcome of each. Used by one thread. */
final class WriteBatch {
  /**
   * A life. Its turns in a batch are stored or refused together, up to the first missing number.
   * The actor's key is in the form of {@link SqlText}.
   */
  private record LifeKey(String kind, String actor, long life) {}

  /** The key of a row of fibry_message. Texts are in the form of {@link SqlText}. */
  private record MessageRowKey(String kind, String actor, String id) {
    static MessageRowKey of(Store.ActorId actor, String id) {
      return new MessageRowKey(actor.kind(), SqlText.encode(actor.key()), SqlText.encode(id));
    }
  }

  /** @param maxPending empty for a message of a turn, which is never refused */
  private record MessagePut(StoreBackend.PendingMessage message, Optional<Integer> maxPending) {}

  private final SqlDialect dialect;
  private final Connection connection;
  private final Set<PendingWrite<?>> storedTurns = new HashSet<>();
  private final Map<MessageRowKey, MessagePut> puts = new LinkedHashMap<>(); // the last put of each key
  private final Set<MessageRowKey> handledKeys = new LinkedHashSet<>();
  private final Set<MessageRowKey> storedKeys = new HashSet<>();
  private final Set<String> kindsWithSnapshots = new HashSet<>();
  private final Set<String> kindsWithMovedViews = new HashSet<>();
  private Optional<Set<String>> viewedKinds = Optional.empty(); // kinds that views read; empty until needed

  private WriteBatch(SqlDialect dialect, Connection connection) {
    this.dialect = dialect;
    this.connection = connection;
  }

  static WriteBatch of(Collection<PendingWrite<?>> entries, SqlDialect dialect, Connection connection)
      throws SQLException {
    var batch = new WriteBatch(dialect, connection);
    var turnsByLife = groupByLife(entries);
    if (!turnsByLife.isEmpty()) batch.checkLives(turnsByLife);
    batch.storeTurns(entries);
    batch.storeMessages(entries);
    batch.storeSnapshots(entries);
    return batch;
  }

  /** Completes the future of an entry. Called after the commit. */
  void complete(PendingWrite<?> entry) {
    if (entry instanceof PendingWrite.TurnWrite write && !hasStored(write))
      write.completeExceptionally(new StaleLifeException(write.turn().actor(), write.turn().number()));
    else if (entry instanceof PendingWrite.MessageWrite write) write.complete(hasStored(write.message()));
    else entry.complete(null);
  }

  // ---- turns

  /** Returns the turns of each life, up to the first gap. Turns after a gap are refused. */
  private static Map<LifeKey, List<PendingWrite.TurnWrite>> groupByLife(Collection<PendingWrite<?>> entries) {
    var turnsByLife = new LinkedHashMap<LifeKey, List<PendingWrite.TurnWrite>>();
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite write) {
      var actor = write.turn().actor();
      var turns = turnsByLife.computeIfAbsent(new LifeKey(actor.kind(), SqlText.encode(actor.key()), write.turn()
          .life()),
          life -> new ArrayList<>(1));
      if (turns.isEmpty() || turns.getLast().turn().number() + 1 == write.turn().number()) turns.add(write);
    }
    return turnsByLife;
  }

  /** Accepts the turns of each current life, if their first turn follows the last stored turn. */
  private void checkLives(Map<LifeKey, List<PendingWrite.TurnWrite>> turnsByLife) throws SQLException {
    var rows = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, NUMBER);
    turnsByLife.forEach((life, turns) -> rows.add(life.kind, life.actor, life.life, turns.getFirst().turn().number(),
        turns.getLast().turn().number()));
    try (var statement = connection.prepareStatement(dialect.advanceLastTurns())) {
      rows.set(connection, statement);
      try (var storedLives = statement.executeQuery()) {
        while (storedLives.next())
          storedTurns.addAll(turnsByLife.get(new LifeKey(storedLives.getString(1), storedLives.getString(2),
              storedLives.getLong(3))));
      }
    }
  }

  private void storeTurns(Collection<PendingWrite<?>> entries) throws SQLException {
    var lastFullState = new HashMap<Store.ActorId, Long>(); // number of the turn that replaces earlier turns
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
      ViewOffset.kindReadBy(write.turn().actor()).ifPresent(kindsWithMovedViews::add);
      if (write.turn().isFullState() && !(write.isEnd() && isViewed(write.turn().actor().kind())))
        lastFullState.put(write.turn().actor(), write.turn().number());
    }
    var turns = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, FLAG, BYTES);
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
      var turn = write.turn();
      if (turn.number() >= lastFullState.getOrDefault(turn.actor(), 0L)) turns.add(turn.actor().kind(),
          SqlText.encode(turn.actor().key()), turn.number(), turn.at().toEpochMilli(), turn.isFullState(), turn.body());
    }
    turns.run(connection, SqlDialect.INSERT_TURNS);
    var deadTurns = new StatementRows(TEXT, TEXT, NUMBER);
    lastFullState.forEach((actor, number) -> deadTurns.add(actor.kind(), SqlText.encode(actor.key()), number));
    deadTurns.run(connection, SqlDialect.DELETE_EARLIER_TURNS);
  }

  /**
   * Returns whether views read the kind. If so, the turns before the end of an actor are deleted
   * only when all views have passed the end.
   */
  private boolean isViewed(String kind) throws SQLException {
    if (viewedKinds.isEmpty())
      viewedKinds =
          Optional.of(
              StoreTransactions.views(connection, dialect).stream().map(ViewOffset::kind).collect(Collectors.toSet()));
    return viewedKinds.get().contains(kind);
  }

  /** Returns the kinds whose views have stored a new offset. */
  Set<String> kindsWithMovedViews() {
    return kindsWithMovedViews;
  }

  private boolean hasStored(PendingWrite.TurnWrite turn) {
    return storedTurns.contains(turn);
  }

  boolean hasTurns() {
    return !storedTurns.isEmpty();
  }

  // ---- messages

  private void storeMessages(Collection<PendingWrite<?>> entries) throws SQLException {
    for (var entry : entries) {
      if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
        write.turn().handledIds().forEach(id -> removeHandled(MessageRowKey.of(write.turn().actor(), id)));
        write.turn().outbox().forEach(message -> put(new MessagePut(message, Optional.empty())));
      }
      if (entry instanceof PendingWrite.MessageWrite write)
        put(new MessagePut(write.message(), Optional.of(write.maxPending())));
    }
    var toDelete = new StatementRows(TEXT, TEXT, TEXT);
    for (var key : handledKeys) if (!isReplaced(key)) toDelete.add(key.kind, key.actor, key.id);
    toDelete.run(connection, SqlDialect.DELETE_MESSAGES);
    storePuts();
  }

  /** Returns whether a message of a turn replaces the row. No limit can refuse such a message. */
  private boolean isReplaced(MessageRowKey key) {
    return puts.containsKey(key) && puts.get(key).maxPending.isEmpty();
  }

  private void removeHandled(MessageRowKey key) {
    puts.remove(key);
    handledKeys.add(key);
  }

  private void put(MessagePut put) {
    var key = MessageRowKey.of(put.message.to(), put.message.id());
    puts.remove(key); // so that it moves to the end
    puts.put(key, put);
  }

  private void storePuts() throws SQLException {
    if (puts.isEmpty()) return;
    var rows = new StatementRows(TEXT, TEXT, TEXT, NUMBER, BYTES, NUMBER);
    // the number of limited messages in this batch so far, by actor and due time
    var earlierCounts = new HashMap<Store.ActorId, TreeMap<Long, Integer>>();
    puts.forEach((key, put) -> {
      long due = StoreTransactions.millis(put.message.due());
      Long maxDueRows = null;
      if (put.maxPending.isPresent()) {
        var counts = earlierCounts.computeIfAbsent(put.message.to(), actor -> new TreeMap<>());
        maxDueRows = put.maxPending.get() - counts.headMap(due, true).values().stream().mapToLong(count -> count).sum();
        counts.merge(due, 1, Integer::sum);
      }
      rows.add(key.kind, key.actor, key.id, due, put.message.body(), maxDueRows);
    });
    try (var statement = connection.prepareStatement(dialect.insertMessages())) {
      rows.set(connection, statement);
      try (var storedRows = statement.executeQuery()) {
        while (storedRows.next()) storedKeys.add(new MessageRowKey(storedRows.getString(1), storedRows.getString(2),
            storedRows.getString(3)));
      }
    }
  }

  private boolean hasStored(StoreBackend.PendingMessage message) {
    return storedKeys.contains(MessageRowKey.of(message.to(), message.id()));
  }

  // ---- snapshots

  private void storeSnapshots(Collection<PendingWrite<?>> entries) throws SQLException {
    var lastSnapshots = new LinkedHashMap<Store.ActorId, StoreBackend.Turn>();
    for (var entry : entries)
      if (entry instanceof PendingWrite.SnapshotWrite write) lastSnapshots.put(write.turn().actor(), write.turn());
    for (var actor : lastSnapshots.keySet()) kindsWithSnapshots.add(actor.kind());
    var rows = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, BYTES);
    lastSnapshots.forEach((actor, turn) -> rows.add(actor.kind(), SqlText.encode(actor.key()), turn.life(),
        turn.number(), turn.body()));
    rows.run(connection, dialect.insertSnapshots());
  }

  Set<String> kindsWithSnapshots() {
    return kindsWithSnapshots;
  }
}
