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
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One transaction that stores entries, and the outcome of each. Used by one thread.
 *
 * <p>The first statement, the fence, says which turns are refused. The driver of Postgres sends all
 * statements together, before that is known. So the statements assume that no turn is refused. They
 * change and lock no rows for a refused turn, its messages included, unless the same life has
 * stored a turn with its number. If the fence refuses turns, which is rare, the transaction is
 * undone. It runs again, and then waits for the result of the fence. A batch of many actors waits
 * for the fence at once, because a long result must be read before the next statement is sent.
 */
final class WriteBatch {
  // The database sends the rows of the fence while the driver sends the statements behind it. So
  // these rows must fit in the buffers of the network, whose usual size is at least 64 KiB.
  private static final int MAX_LIVES_TOGETHER = 256;
  private static final int MAX_KEY_BYTES_TOGETHER = 16 << 10;

  /**
   * A life. Its turns in a batch are stored or refused together, up to the first missing number.
   * The actor's key is in the form of {@link SqlText}.
   */
  record LifeKey(String kind, String actor, long life) {}

  /** The key of a row of fibry_message. Texts are in the form of {@link SqlText}. */
  private record MessageRowKey(String kind, String actor, String id) {
    static MessageRowKey of(Store.ActorId actor, String id) {
      return new MessageRowKey(actor.kind(), SqlText.encode(actor.key()), SqlText.encode(id));
    }
  }

  /**
   * @param maxPending empty for a message of a turn, which no limit can refuse
   * @param sender the life whose turn sends the message, or null
   */
  private record MessagePut(StoreBackend.PendingMessage message, Optional<Integer> maxPending, LifeKey sender) {}

  private final SqlDialect dialect;
  private final Transaction transaction;
  private final Map<LifeKey, List<PendingWrite.TurnWrite>> turnsByLife; // turns that are not refused
  private final Map<PendingWrite<?>, LifeKey> storedTurns = new HashMap<>(); // by turn, its life
  private final Map<MessageRowKey, MessagePut> puts = new LinkedHashMap<>(); // the last put of each key
  private final Map<MessageRowKey, LifeKey> handledKeys = new LinkedHashMap<>(); // by message, the life that handled it
  private final Set<MessageRowKey> storedKeys = new HashSet<>();
  private final Set<String> kindsWithSnapshots = new HashSet<>();
  private final Set<String> kindsWithMovedViews = new HashSet<>();
  private Optional<Set<String>> viewedKinds = Optional.empty(); // kinds that views read; empty until needed

  private WriteBatch(Collection<PendingWrite<?>> entries, Transaction transaction) {
    this.dialect = transaction.dialect();
    this.transaction = transaction;
    this.turnsByLife = groupByLife(entries);
  }

  static WriteBatch store(Collection<PendingWrite<?>> entries, Transaction transaction) throws SQLException {
    var batch = new WriteBatch(entries, transaction);
    if (transaction.dialect().sendsTogether() && mayBeSentTogether(batch.turnsByLife.keySet())) {
      if (batch.tryStore(entries)) return batch;
      transaction.rollback();
      batch = new WriteBatch(entries, transaction);
    }
    batch.storeAfterFence(entries);
    return batch;
  }

  /**
   * Returns whether the fence of these lives returns so few bytes that the driver can send other
   * statements before it reads them. With more bytes, the database would wait until the driver
   * reads, and the driver until the database reads.
   */
  static boolean mayBeSentTogether(Collection<LifeKey> lives) {
    return lives.size() <= MAX_LIVES_TOGETHER
        && lives.stream().mapToLong(life -> byteCount(life.kind) + byteCount(life.actor)).sum()
            <= MAX_KEY_BYTES_TOGETHER;
  }

  private static int byteCount(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /** Sends all statements together. Returns false if the fence refuses turns. */
  private boolean tryStore(Collection<PendingWrite<?>> entries) throws SQLException {
    var statements = new StatementSequence();
    var currentLives = new HashSet<LifeKey>();
    checkLives(statements, currentLives);
    storeAll(entries, statements);
    try {
      transaction.run(statements);
      return currentLives.size() == turnsByLife.size();
    } catch (SQLException failure) {
      if (!turnsByLife.isEmpty() && Database.isConstraintViolated(failure)) return false; // the turns may be refused
      throw failure;
    }
  }

  private void storeAfterFence(Collection<PendingWrite<?>> entries) throws SQLException {
    if (!turnsByLife.isEmpty()) {
      var fence = new StatementSequence();
      var currentLives = new HashSet<LifeKey>();
      checkLives(fence, currentLives);
      transaction.run(fence);
      turnsByLife.keySet().retainAll(currentLives);
    }
    var statements = new StatementSequence();
    storeAll(entries, statements);
    transaction.run(statements);
  }

  /**
   * Adds all statements but the fence. Only the last one, which stores messages, may return many
   * rows.
   */
  private void storeAll(Collection<PendingWrite<?>> entries, StatementSequence statements) throws SQLException {
    turnsByLife.forEach((life, turns) -> turns.forEach(turn -> storedTurns.put(turn, life)));
    storeTurns(entries, statements);
    storeSnapshots(entries, statements);
    storeMessages(entries, statements);
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

  /** Finds the current lives whose first turn follows their last stored turn. */
  private void checkLives(StatementSequence statements, Set<LifeKey> currentLives) {
    if (turnsByLife.isEmpty()) return;
    var rows = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, NUMBER);
    turnsByLife.forEach((life, turns) -> rows.add(life.kind, life.actor, life.life, turns.getFirst().turn().number(),
        lastNumber(life)));
    statements.add(dialect.advanceLastTurns(), rows,
        row -> currentLives.add(new LifeKey(row.getString(1), row.getString(2), row.getLong(3))));
  }

  private long lastNumber(LifeKey life) {
    return turnsByLife.get(life).getLast().turn().number();
  }

  private void storeTurns(Collection<PendingWrite<?>> entries, StatementSequence statements) throws SQLException {
    var lastFullState = new LinkedHashMap<LifeKey, Long>(); // number of the turn that replaces earlier turns
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
      ViewOffset.kindReadBy(write.turn().actor()).ifPresent(kindsWithMovedViews::add);
      if (write.turn().isFullState() && !(write.isEnd() && isViewed(write.turn().actor().kind())))
        lastFullState.put(storedTurns.get(write), write.turn().number());
    }
    var turns = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, NUMBER, NUMBER, FLAG, BYTES);
    for (var entry : entries) if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
      var turn = write.turn();
      var life = storedTurns.get(write);
      if (turn.number() >= lastFullState.getOrDefault(life, 0L)) turns.add(life.kind, life.actor, life.life,
          lastNumber(life), turn.number(), turn.at().toEpochMilli(), turn.isFullState(), turn.body());
    }
    statements.add(SqlDialect.INSERT_TURNS, turns);
    var deadTurns = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, NUMBER);
    lastFullState.forEach((life, number) -> deadTurns.add(life.kind, life.actor, life.life, lastNumber(life), number));
    statements.add(SqlDialect.DELETE_REPLACED_TURNS, deadTurns);
  }

  /**
   * Returns whether views read the kind. If so, the turns before the end of an actor are deleted
   * only when all views have passed the end.
   */
  private boolean isViewed(String kind) throws SQLException {
    if (viewedKinds.isEmpty())
      viewedKinds =
          Optional.of(
              StoreTransactions.views(transaction.connection(), dialect).stream().map(ViewOffset::kind)
                  .collect(Collectors.toSet()));
    return viewedKinds.get().contains(kind);
  }

  /** Returns the kinds whose views have stored a new offset. */
  Set<String> kindsWithMovedViews() {
    return kindsWithMovedViews;
  }

  private boolean hasStored(PendingWrite.TurnWrite turn) {
    return storedTurns.containsKey(turn);
  }

  boolean hasTurns() {
    return !storedTurns.isEmpty();
  }

  // ---- messages

  private void storeMessages(Collection<PendingWrite<?>> entries, StatementSequence statements) {
    for (var entry : entries) {
      if (entry instanceof PendingWrite.TurnWrite write && hasStored(write)) {
        write.turn().handledIds()
            .forEach(id -> removeHandled(MessageRowKey.of(write.turn().actor(), id), storedTurns.get(write)));
        write.turn().outbox()
            .forEach(message -> put(new MessagePut(message, Optional.empty(), storedTurns.get(write))));
      }
      if (entry instanceof PendingWrite.MessageWrite write)
        put(new MessagePut(write.message(), Optional.of(write.maxPending()), null));
    }
    var toDelete = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, TEXT);
    handledKeys.forEach((key, life) -> {
      if (!isReplaced(key)) toDelete.add(key.kind, key.actor, life.life, lastNumber(life), key.id);
    });
    statements.add(SqlDialect.DELETE_MESSAGES, toDelete);
    storePuts(statements);
  }

  /** Returns whether a message of a turn replaces the row. No limit can refuse such a message. */
  private boolean isReplaced(MessageRowKey key) {
    return puts.containsKey(key) && puts.get(key).maxPending.isEmpty();
  }

  private void removeHandled(MessageRowKey key, LifeKey life) {
    puts.remove(key);
    handledKeys.put(key, life);
  }

  private void put(MessagePut put) {
    var key = MessageRowKey.of(put.message.to(), put.message.id());
    puts.remove(key); // so that it moves to the end
    puts.put(key, put);
  }

  private void storePuts(StatementSequence statements) {
    if (puts.isEmpty()) return;
    var rows = new StatementRows(TEXT, TEXT, TEXT, NUMBER, BYTES, NUMBER, TEXT, TEXT, NUMBER, NUMBER);
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
      var sender = put.sender;
      if (sender == null)
        rows.add(key.kind, key.actor, key.id, due, put.message.body(), maxDueRows, null, null, null, null);
      else rows.add(key.kind, key.actor, key.id, due, put.message.body(), maxDueRows, sender.kind, sender.actor,
          sender.life, lastNumber(sender));
    });
    statements.add(dialect.insertMessages(), rows,
        row -> storedKeys.add(new MessageRowKey(row.getString(1), row.getString(2), row.getString(3))));
  }

  private boolean hasStored(StoreBackend.PendingMessage message) {
    return storedKeys.contains(MessageRowKey.of(message.to(), message.id()));
  }

  // ---- snapshots

  private void storeSnapshots(Collection<PendingWrite<?>> entries, StatementSequence statements) {
    var lastSnapshots = new LinkedHashMap<Store.ActorId, StoreBackend.Turn>();
    for (var entry : entries)
      if (entry instanceof PendingWrite.SnapshotWrite write) lastSnapshots.put(write.turn().actor(), write.turn());
    for (var actor : lastSnapshots.keySet()) kindsWithSnapshots.add(actor.kind());
    var rows = new StatementRows(TEXT, TEXT, NUMBER, NUMBER, BYTES);
    lastSnapshots.forEach((actor, turn) -> rows.add(actor.kind(), SqlText.encode(actor.key()), turn.life(),
        turn.number(), turn.body()));
    statements.add(dialect.insertSnapshots(), rows);
  }

  Set<String> kindsWithSnapshots() {
    return kindsWithSnapshots;
  }
}
