package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Histories;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests rules of stores in databases that the contracts of durable actors do not test. */
abstract class TablesContract extends DatabaseFixture {

  TablesContract(Maker maker) {
    super(maker);
  }

  // ---- turns

  @Test
  void turnsReplacedByFullStateTurnAreDeleted() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 20; i++) append(store, turn(ADA, life, i, i % 5 == 0));
    var appends = new ArrayList<CompletableFuture<Void>>();
    for (int i = 21; i <= 60; i++) appends.add(store.append(turn(ADA, life, i, i % 2 == 0)).toCompletableFuture());
    appends.forEach(Patience::value);

    assertEquals(1, number("select count(*) from fibry_turn"));
    assertEquals(60, store.load(ADA).lastTurn());
    assertEquals(1, Histories.check(store, "account").size());
  }

  // ---- history

  @Test
  void oldTurnsAreDeletedWhenSnapshotCoversThem() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 10; i++)
      append(store, new StoreBackend.Turn(ADA, life, i, Instant.EPOCH, false, new byte[] {1},
          List.of(), List.of()));
    append(store, turn(ADA, life, 11));
    store.snapshot(turn(ADA, life, 11, true, (byte) 9));
    eventually(() -> count("fibry_snapshot") == 1);
    store.setRetention("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 1);

    append(store, turn(ADA, life, 12));

    assertEquals(2, store.load(ADA).bodies().size());
    assertEquals(12, store.load(ADA).lastTurn());
  }

  @Test
  void oldTurnsWithoutCoveringSnapshotAreRetained() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    append(store, new StoreBackend.Turn(ADA, life, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    long grace = store.load(GRACE).life();
    append(store, new StoreBackend.Turn(GRACE, grace, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    store.snapshot(turn(GRACE, grace, 1, true, (byte) 9));
    eventually(() -> count("fibry_snapshot") == 1);
    store.setRetention("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 1);

    assertEquals(1, store.load(ADA).bodies().size());
    assertEquals(1, store.load(GRACE).lastTurn());
  }

  private void appendOldTurnWithSnapshot(StoreBackend store, Store.ActorId actor, int snapshots) throws Exception {
    long life = store.load(actor).life();
    append(store, new StoreBackend.Turn(actor, life, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    append(store, turn(actor, life, 2));
    store.snapshot(turn(actor, life, 2, true, (byte) 9));
    eventually(() -> count("fibry_snapshot") == snapshots);
  }

  @Test
  void cleanupStartsAtOnceOnlyWhenRetentionAgeChanges() throws Exception {
    var store = open();
    appendOldTurnWithSnapshot(store, ADA, 1);
    store.setRetention("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 1);
    appendOldTurnWithSnapshot(store, GRACE, 2);

    store.setRetention("account", Duration.ofDays(1));

    store.close(); // waits for all checks
    assertEquals(3, count("fibry_turn"));
    var reopenedStore = open();
    reopenedStore.setRetention("account", Duration.ofDays(20_000_000));
    reopenedStore.setRetention("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 2);
  }

  private long count(String table) {
    try {
      return number("select count(*) from " + table);
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
  }

  // ---- damage

  @Test
  void exceptionForMissingTurnSaysHowToRepair() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(store, turn(ADA, life, i));
    append(store, turn(GRACE, store.load(GRACE).life(), 1));
    for (int missing = 1; missing <= 3; missing++) {
      execute("create table kept as select * from fibry_turn where actor = 'ada' and number = " + missing);
      execute("delete from fibry_turn where actor = 'ada' and number = " + missing);

      var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

      assertEquals("turn " + missing + " of account 'ada' is missing " + (missing == 3 ? "at the end of" : "in")
          + " the table fibry_turn. Other actors are not affected; put the row back"
          + (missing == 3 ? ", or abandon the turn: set last to 2 in the row of the actor in fibry_actor" : ""),
          failure.getMessage());
      execute("insert into fibry_turn select * from kept");
      execute("drop table kept");
    }
    assertEquals(3, store.load(ADA).bodies().size());
    assertEquals(1, store.load(GRACE).bodies().size());
  }

  @Test
  void missingLastTurnsCanBeAbandoned() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 4; i++) append(store, turn(ADA, life, i));
    execute("delete from fibry_turn where actor = 'ada' and number > 2");

    var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));
    assertEquals("turns 3 to 4 of account 'ada' are missing at the end of the table fibry_turn. Other actors are not "
        + "affected; put the rows back, or abandon the turns: set last to 2 in the row of the actor in fibry_actor",
        failure.getMessage());
    execute("update fibry_actor set last = 2 where actor = 'ada'"); // as the exception advises

    var loaded = store.load(ADA);
    assertEquals(2, loaded.lastTurn());
    append(store, turn(ADA, loaded.life(), 3));
    assertEquals(3, store.load(ADA).bodies().size());
  }

  /** This state occurs if only the table of actors was restored from a backup. */
  @Test
  void turnsBeyondRecordedLastTurnAreDetected() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(store, turn(ADA, life, i));
    execute("update fibry_actor set last = 2 where actor = 'ada'");

    var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

    assertEquals("turn 3 of account 'ada' is in the table fibry_turn, though fibry_actor says that turn 2 is the last. "
        + "Other actors are not affected; set last to 3 in the row of the actor in fibry_actor",
        failure.getMessage());
    execute("update fibry_actor set last = 3 where actor = 'ada'"); // as the exception advises
    assertEquals(3, store.load(ADA).bodies().size());
  }

  @Test
  void storeOfUnknownFormatIsRefused() throws Exception {
    open().close();
    execute("update fibry_format set version = 2");

    var failure = assertThrows(StoreDamagedException.class, this::open);

    assertTrue(failure.getMessage().startsWith("the store in jdbc:"), failure.getMessage());
    assertTrue(failure.getMessage().endsWith(" has format 2; this version reads format 1"), failure.getMessage());
    execute("delete from fibry_format");
    assertThrows(StoreDamagedException.class, this::open);
  }

  // ---- opening and limits

  @Test
  void concurrentStoresMayCreateTables() throws Exception {
    var stores = new ArrayList<CompletableFuture<StoreBackend>>();
    for (int i = 0; i < 4; i++) stores.add(CompletableFuture.supplyAsync(() -> StoreBackend.of(JdbcStore.open(pool))));
    for (var store : stores) Patience.value(store).close();

    assertEquals(1, number("select count(*) from fibry_format"));
  }

  @Test
  void storeAppendsTurnsWithoutAutoCommit() {
    pool.setAutoCommit(false);
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));

    assertEquals(1, store.load(ADA).lastTurn());
  }

  @Test
  void tooLargeTurnIsRefusedAtOnce() {
    var store = open();
    long life = store.load(ADA).life();

    var failure = assertThrows(IllegalArgumentException.class,
        () -> store.append(turn(ADA, life, 1, false, new byte[(16 << 20) + 1])));

    assertTrue(failure.getMessage().startsWith("a turn of account 'ada' takes 16777217 bytes; the store in jdbc:"),
        failure.getMessage());
    append(store, turn(ADA, life, 1));
  }
}
