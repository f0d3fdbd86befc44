package io.fibry.jdbc;

import static io.fibry.jdbc.StatementRows.ColumnType.BYTES;
import static io.fibry.jdbc.StatementRows.ColumnType.FLAG;
import static io.fibry.jdbc.StatementRows.ColumnType.NUMBER;
import static io.fibry.jdbc.StatementRows.ColumnType.TEXT;

import io.fibry.store.Store;
import io.fibry.store.ViewOffset;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** One transaction for waiting entries, and the outcome of each entry. Used by one thread. */
final class WriteBatch {
  /** Turns of one life stand or fall together. A row as the database has it. */
  private record LifeKey(String kind, String actor, long life) {}

  /** A message that waits, as the database has it. */
  private record MessageRowKey(String kind, String actor, String id) {
    static MessageRowKey of(Store.ActorId actor, String id) {
      return new MessageRowKey(actor.kind(), SqlText.encode(actor.key()), SqlText.encode(id));
    }
  }

  /** @param maxPending empty: it is a part of a turn */
  private record MessagePut(Store.PendingMessage message, Optional<Integer> maxPending) {}

  private final SqlDialect dialect;
  private final Connection connection;
  private final Set<PendingWrite<?>> storedTurns = new HashSet<>(); // turns
  private final Map<MessageRowKey, MessagePut> puts = new LinkedHashMap<>(); // of several for a key, the last one
  private final Set<MessageRowKey> handledKeys = new LinkedHashSet<>();
  private final Set<MessageRowKey> storedKeys = new HashSet<>();
  private final Set<String> kindsOfSnapshots = new HashSet<>();
  private final Set<String> kindsOfViews = new HashSet<>();
  private Optional<Set<String>> viewedKinds = Optional.empty(); // kinds that views read, as the database has them

  private WriteBatch(SqlDialect dialect, Connection connection) {
    this.dialect = dialect;
    this.connection = connection;
  }

  static WriteBatch of(List<PendingWrite<?>> entries, SqlDialect dialect, Connection connection) throws SQLException {
    var batch = new WriteBatch(dialect, connection);
    var lines = groupByLife(entries);
    if (!lines.isEmpty()) batch.checkLives(lines);
    batch.storeTurns(entries);
    batch.storeMessages(entries);
    batch.storeSnapshots(entries);
    return batch;
  }

  // ---- turns

  /** Each without gaps. */
  private static Map<LifeKey, List<PendingWrite.TurnWrite>> groupByLife(List<PendingWrite<?>> entries) {
    var lines = new LinkedHashMap<LifeKey, List<PendingWrite.TurnWrite>>();
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite of) {
      var id = of.turn().actor();
      var line = lines.computeIfAbsent(new LifeKey(id.kind(), SqlText.encode(id.key()), of.turn().life()),
          none -> new ArrayList<>(1));
      if (line.isEmpty() || line.getLast().turn().number() + 1 == of.turn().number()) line.add(of);
    }
    return lines;
  }

  /** Turns are stored if their life is not over, and the first of them is the next one. */
  private void checkLives(Map<LifeKey, List<PendingWrite.TurnWrite>> lines) throws SQLException {
    var given = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, NUMBER);
    lines.forEach((line, turns) -> given.add(line.kind, line.actor, line.life, turns.getFirst().turn().number(),
        turns.getLast().turn().number()));
    try (var statement = connection.prepareStatement(dialect.fence())) {
      given.set(connection, statement);
      try (var rows = statement.executeQuery()) {
        while (rows.next())
          storedTurns.addAll(lines.get(new LifeKey(rows.getString(1), rows.getString(2), rows.getLong(3))));
      }
    }
  }

  private void storeTurns(List<PendingWrite<?>> entries) throws SQLException {
    var whole = new HashMap<Store.ActorId, Long>(); // the last whole turn of each actor: turns before it are dead
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite of && hasStored(of)) {
      ViewOffset.kindOf(of.turn().actor()).ifPresent(kindsOfViews::add);
      if (of.turn().isFullState() && !(of.isEnd() && isViewed(of.turn().actor().kind())))
        whole.put(of.turn().actor(), of.turn().number());
    }
    var turns = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, FLAG, BYTES);
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite of && hasStored(of)) {
      var turn = of.turn();
      if (turn.number() >= whole.getOrDefault(turn.actor(), 0L)) turns.add(turn.actor().kind(),
          SqlText.encode(turn.actor().key()), turn.number(), turn.at().toEpochMilli(), turn.isFullState(), turn.body());
    }
    turns.run(connection, SqlDialect.TURNS);
    var dead = new StatementRows(TEXT, TEXT, NUMBER);
    whole.forEach((id, number) -> dead.add(id.kind(), SqlText.encode(id.key()), number));
    dead.run(connection, SqlDialect.DEAD);
  }

  /** What an end replaces is deleted when all views have passed it. */
  private boolean isViewed(String kind) throws SQLException {
    if (viewedKinds.isEmpty())
      viewedKinds =
          Optional.of(StoreQueries.views(connection).stream().map(ViewOffset::kind).collect(Collectors.toSet()));
    return viewedKinds.get().contains(kind);
  }

  /** Returns the kinds of the views that have moved. */
  Set<String> kindsOfViews() {
    return kindsOfViews;
  }

  boolean hasStored(PendingWrite.TurnWrite turn) {
    return storedTurns.contains(turn);
  }

  boolean hasTurns() {
    return !storedTurns.isEmpty();
  }

  // ---- messages

  private void storeMessages(List<PendingWrite<?>> entries) throws SQLException {
    for (var entry : entries) {
      if (entry instanceof PendingWrite.TurnWrite of && hasStored(of)) {
        of.turn().handledIds().forEach(id -> removeHandled(MessageRowKey.of(of.turn().actor(), id)));
        of.turn().outbox().forEach(message -> put(new MessagePut(message, Optional.empty())));
      }
      if (entry instanceof PendingWrite.MessageWrite of)
        put(new MessagePut(of.message(), Optional.of(of.maxPending())));
    }
    var gone = new StatementRows(TEXT, TEXT, TEXT);
    for (var key : handledKeys) if (!isReplaced(key)) gone.add(key.kind, key.actor, key.id);
    gone.run(connection, SqlDialect.DONE);
    storePuts();
  }

  /** For sure: there is no limit that could refuse it. */
  private boolean isReplaced(MessageRowKey key) {
    return puts.containsKey(key) && puts.get(key).maxPending.isEmpty();
  }

  private void removeHandled(MessageRowKey key) {
    puts.remove(key);
    handledKeys.add(key);
  }

  private void put(MessagePut put) {
    var key = MessageRowKey.of(put.message.to(), put.message.id());
    puts.remove(key); // so that it is the last one
    puts.put(key, put);
  }

  private void storePuts() throws SQLException {
    if (puts.isEmpty()) return;
    var given = new StatementRows(TEXT, TEXT, TEXT, NUMBER, BYTES, NUMBER);
    var before = new HashMap<Store.ActorId, Integer>(); // how many of this transaction
    puts.forEach((key, put) -> {
      Long max = put.maxPending.isEmpty() ? null
          : (long) put.maxPending.get() + 1 - before.merge(put.message.to(), 1, Integer::sum);
      given.add(key.kind, key.actor, key.id, StoreQueries.millis(put.message.due()), put.message.body(), max);
    });
    try (var statement = connection.prepareStatement(dialect.messages())) {
      given.set(connection, statement);
      try (var rows = statement.executeQuery()) {
        while (rows.next()) storedKeys.add(new MessageRowKey(rows.getString(1), rows.getString(2), rows.getString(3)));
      }
    }
  }

  boolean hasStored(Store.PendingMessage message) {
    return storedKeys.contains(MessageRowKey.of(message.to(), message.id()));
  }

  // ---- snapshots

  private void storeSnapshots(List<PendingWrite<?>> entries) throws SQLException {
    var last = new LinkedHashMap<Store.ActorId, Store.Turn>();
    for (var entry : entries)
      if (entry instanceof PendingWrite.SnapshotWrite of) last.put(of.turn().actor(), of.turn());
    for (var id : last.keySet()) kindsOfSnapshots.add(id.kind());
    var given = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, BYTES);
    last.forEach((id, turn) -> given.add(id.kind(), SqlText.encode(id.key()), turn.life(), turn.number(), turn.body()));
    given.run(connection, dialect.snapshots());
  }

  Set<String> kindsOfSnapshots() {
    return kindsOfSnapshots;
  }
}
