package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.append;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests how a store in Postgres loads actors. */
class LoadsInPostgresTest extends DatabaseFixture {
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

    assertTrue(scannedRows <= ACTORS, scannedRows + " rows were read by scans of whole tables");
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
