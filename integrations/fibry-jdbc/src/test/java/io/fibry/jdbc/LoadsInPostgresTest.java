package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests how a store in Postgres loads actors. */
class LoadsInPostgresTest extends LoadsContract {
  private static final int ACTORS = 600;

  LoadsInPostgresTest() {
    super(DatabaseFixture::postgres);
  }

  /**
   * Postgres keeps the plans that it made while the tables were small. If such a plan scans a whole
   * table, each load reads the rows of all actors.
   */
  @Test
  void growingTablesAreReadByIndex() throws SQLException {
    var source = (PGSimpleDataSource) database;
    source.setApplicationName("growing " + source.getCurrentSchema());
    var store = open();
    execute("analyze");
    for (int i = 0; i < ACTORS; i++) handleMessage(store, new Store.ActorId("account", "a" + i));
    store.close();
    pool.close(); // a connection that ends reports its statistics
    source.setApplicationName("reader");
    eventually(() -> longFrom(
        "select count(*) from pg_stat_activity where application_name = 'growing " + source.getCurrentSchema() + "'")
        == 0);

    long scannedRows = longFrom("select sum(seq_tup_read) from pg_stat_user_tables where schemaname = current_schema");
    long indexedRows =
        longFrom("select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = current_schema");

    assertTrue(scannedRows <= ACTORS, scannedRows + " rows were read by scans of whole tables");
    // While the table is small, two statements per actor may use the wrong index and read all turns
    // of the kind. If these plans stayed, each of them would read 300 rows per actor.
    assertTrue(indexedRows <= 450 * ACTORS, indexedRows + " rows were read by indexes");
  }

  /**
   * If the begin of a later life were lost, the life before it could store turns again, although
   * the later life has already replied.
   */
  @Test
  void transactionWithLaterLifeWaitsForDisk() throws SQLException {
    open(database).load(ADA);
    execute("create table seen (actor varchar, setting varchar)");
    execute("create function note() returns trigger language plpgsql as 'begin insert into seen values "
        + "(new.actor, current_setting(''synchronous_commit'')); return null; end'");
    execute("create constraint trigger noted after insert or update on fibry_actor deferrable initially deferred "
        + "for each row execute function note()"); // runs at the commit
    var store = openPaused(1);
    var firstLives = new ArrayList<Store.ActorId>();
    for (int i = 0; i < ActorLoader.MAX_LOADS; i++) firstLives.add(id("a" + i));
    var loads = startAll(store, firstLives);
    loads.addAll(startAll(store, List.of(id("b"), ADA, id("c")))); // the next transaction

    begins.gate.countDown();

    for (var load : loads) Patience.value(load.result());
    assertEquals(ActorLoader.MAX_LOADS, number("select count(*) from seen where setting = 'off' and actor like 'a%'"));
    assertEquals(3, number("select count(*) from seen where setting = 'on' and actor in ('b', 'ada', 'c')"));
  }

  /** All statements of a refused turn are sent, but they wait for no lock of the later life. */
  @Test
  void refusedTurnWaitsForNoLockOfLaterLife() throws SQLException {
    var store = open();
    long earlierLife = store.load(ADA).life();
    append(store, turn(ADA, earlierLife, 1));
    var message = new StoreBackend.PendingMessage(ADA, "m", Instant.EPOCH, new byte[1]);
    store.enqueue(message, 9).toCompletableFuture().join();
    store.load(ADA);
    try (var lockHolder = database.getConnection(); var statement = lockHolder.createStatement()) {
      lockHolder.setAutoCommit(false);
      statement.execute("select * from fibry_turn, fibry_message for update");
      statement.execute("insert into fibry_message values ('account', 'ada', 'sent', 0, '')"); // as the later life may

      var refused = store.append(new StoreBackend.Turn(ADA, earlierLife, 2, Instant.EPOCH, true, new byte[1],
          List.of("m"), List.of(new StoreBackend.PendingMessage(ADA, "sent", Instant.EPOCH, new byte[1]))));

      assertInstanceOf(StaleLifeException.class, refusal(refused));
      lockHolder.rollback();
    }
    assertEquals(1, number("select count(*) from fibry_message"));
  }

  private static void handleMessage(StoreBackend store, Store.ActorId actor) {
    for (var id : List.of("kept", "handled")) {
      var message = new StoreBackend.PendingMessage(actor, id, Instant.EPOCH, new byte[10]);
      store.enqueue(message, 9).toCompletableFuture().join();
    }
    store.pending(actor, Instant.MAX, 9);
    store.dueTime(actor, "handled");
    store.nextDueTime(actor, Instant.EPOCH);
    long life = store.load(actor).life();
    append(store,
        new StoreBackend.Turn(actor, life, 1, Instant.EPOCH, true, new byte[10], List.of("handled"), List.of()));
  }

  private long longFrom(String sql) {
    try {
      return number(sql);
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
  }
}
