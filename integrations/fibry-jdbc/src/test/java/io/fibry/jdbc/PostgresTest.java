package io.fibry.jdbc;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.GRACE;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.fight;
import static io.fibry.durable.Turning.refusal;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Outcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Patience;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Behavior that only a real database shows. */
class PostgresTest extends DatabaseFixture {
  private static final Duration SHORT = Duration.ofSeconds(2);

  PostgresTest() {
    super(DatabaseFixture::postgres);
  }

  // ---- transactions

  /** The driver sends BEGIN and a statement together. Without BEGIN, Postgres commits that. */
  @Test
  void cancelledBeginStoresNothing() throws Exception {
    try (var canceller = new BeginCanceller((PGSimpleDataSource) database)) {
      var store = open(canceller.source());
      long life = store.load(ADA).life();
      append(store, turn(ADA, life, 1));

      canceller.cancelNext();
      assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 2))));

      assertEquals(0, canceller.left());
      assertEquals(1, number("select last from fibry_actor"));
      append(store, turn(ADA, life, 2));
      canceller.cancelNext();
      assertThrows(StoreReadException.class, () -> store.load(ADA));
      assertEquals(life, number("select life from fibry_actor"));
      assertEquals(2, store.load(ADA).lastTurn());
    }
  }

  // ---- history

  @Test
  void historyWaitsForLateCommit() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    try (var late = database.getConnection(); var statement = late.createStatement()) {
      late.setAutoCommit(false); // as another process that is slow
      statement.execute("insert into fibry_turn (kind, actor, number, millis, whole, body) "
          + "values ('account', 'grace', 1, 0, false, '')");
      append(store, turn(ADA, life, 1));
      try (var history = store.history("account", "")) {
        var keys = new ArrayList<String>();
        var looks = new CountDownLatch(2); // so the first one is over
        count(looks);
        var reader = Thread.ofVirtual().start(() -> {
          try {
            while (keys.size() < 3) history.take().forEach(turn -> keys.add(turn.key()));
          } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
          }
        });
        Patience.await(looks);
        append(store, turn(ADA, life, 2)); // the reader is woken, and sees nothing yet
        late.commit();

        Patience.joined(reader);
        assertEquals(List.of("grace", "ada", "ada"), keys);
      }
    }
  }

  /** How often the history is read. */
  private void count(CountDownLatch looks) {
    faults.onNextStatement("t.whole, t.body", (connection, call) -> {
      count(looks);
      looks.countDown();
      return call.run();
    });
  }

  @Test
  void turnsOfAnotherDatabaseClusterAreDetected() throws Exception {
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));
    execute("update fibry_turn set tx = '9999999999'"); // as `pg_dump` copies it
    var history = store.history("account", "");

    var failure = assertThrows(StoreDamagedException.class, history::take);

    assertTrue(failure.getMessage().endsWith(" has turns of kind 'account' from another cluster, so their order in the "
        + "history is unknown: run \"update fibry_turn set tx = '0'\" while no store is open, and let views begin anew"),
        failure.getMessage());
    execute("update fibry_turn set tx = '0'");
    assertEquals(1, store.history("account", "").take().size());
  }

  // ---- failovers

  private void readsTwoTurns(Store store, Store.History history) throws Exception {
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    append(store, turn(ADA, life, 2));
    for (int found = 0; found < 2;) found += history.take().size();
  }

  private static void assertLost(Store.History history) {
    var failure = assertThrows(StoreDamagedException.class, history::poll);
    assertTrue(failure.getMessage().contains("has lost turns that the history of kind 'account' has shown"),
        failure.getMessage());
  }

  @Test
  void historyIsRefusedAfterItsLastTurnWasLost() throws Exception {
    var store = open();
    try (var history = store.history("account", "")) {
      readsTwoTurns(store, history);
      assertEquals(List.of(), history.poll());
      execute("delete from fibry_turn where number = 2");
      execute("update fibry_actor set last = 1");

      assertLost(history);
    }
  }

  @Test
  void historyIsRefusedAfterLastTurnIsReplaced() throws Exception {
    var store = open();
    try (var history = store.history("account", "")) {
      readsTwoTurns(store, history);
      execute("delete from fibry_turn where number = 2");
      execute("update fibry_actor set last = 1");
      append(store, turn(ADA, store.load(ADA).life(), 2));

      assertLost(history);
    }
  }

  @Test
  void offsetOfFutureTransactionIsRefused() throws Exception {
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));
    try (var history = store.history("account", "9999999999999.1")) {
      assertLost(history);
    }
  }

  // ---- commits that do not wait

  @Test
  void commitsWaitForTheDiskThoughTheUserSaysOtherwise() throws Exception {
    open().close();
    execute("create table seen (setting varchar)");
    execute("create function note() returns trigger language plpgsql as 'begin insert into seen values "
        + "(current_setting(''synchronous_commit'')); return null; end'");
    execute("create trigger noted after insert on fibry_turn for each statement execute function note()");
    for (var setting : List.of("off", "local", "remote_write")) {
      var store = open(as("postgres", "-c synchronous_commit=" + setting));
      var last = store.load(ADA);
      append(store, turn(ADA, last.life(), last.lastTurn() + 1));
    }

    assertEquals(1, number("select count(*) from seen where setting = 'on'")); // instead of off
    assertEquals(1, number("select count(*) from seen where setting = 'local'"));
    assertEquals(1, number("select count(*) from seen where setting = 'remote_write'"));
  }

  // ---- rights

  private DataSource as(String user, String options) {
    var source = new PGSimpleDataSource();
    var ours = (PGSimpleDataSource) database;
    source.setURL(ours.getURL());
    source.setUser(user);
    source.setOptions(options);
    return source;
  }

  private String newUser() throws SQLException {
    String schema = ((PGSimpleDataSource) database).getCurrentSchema();
    String user = "user_of_" + schema;
    execute("create role " + user + " login");
    execute("grant usage on schema " + schema + " to " + user);
    return user;
  }

  @Test
  void aUserWithStrictRightsNeedsNoOthers() throws Exception {
    String user = newUser();
    String schema = ((PGSimpleDataSource) database).getCurrentSchema();
    var failure = assertThrows(StoreReadException.class, () -> JdbcStore.open(as(user, "")));
    assertTrue(failure.getMessage().contains("permission denied for schema " + schema), failure.getMessage());

    execute(JdbcStore.schema());
    execute("grant select, insert, update, delete on all tables in schema " + schema + " to " + user);
    var store = open(as(user, ""));

    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    append(store, new Store.Turn(ADA, life, 2, Instant.now(), true, new byte[1], List.of("a"),
        List.of(new Store.PendingMessage(ADA, "b", Instant.EPOCH, new byte[1]))));
    store.snapshot(turn(ADA, life, 2, true));
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void readOnlyDatabaseIsRefused() {
    open().close();

    var failure = assertThrows(StoreReadException.class,
        () -> JdbcStore.open(as("postgres", "-c default_transaction_read_only=on")));

    assertTrue(failure.getMessage().endsWith("cannot execute SELECT FOR UPDATE in a read-only transaction"),
        failure.getMessage());
  }

  @Test
  void temporarilyReadOnlyDatabaseRefusesTurns() throws Exception {
    String user = newUser();
    String schema = ((PGSimpleDataSource) database).getCurrentSchema();
    execute(JdbcStore.schema());
    execute("grant all on all tables in schema " + schema + " to " + user);
    var store = open(as(user, ""));
    long life = store.load(ADA).life();
    execute("alter role " + user + " set default_transaction_read_only = on");

    var failure = assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));

    assertEquals(Outcome.NOT_DONE, failure.outcome());
    assertTrue(failure.getMessage().contains("in a read-only transaction"), failure.getMessage());
    execute("alter role " + user + " reset default_transaction_read_only");
    append(store, turn(ADA, life, 1));
  }

  @Test
  void anotherDatabaseIsRefused() {
    var data = (DatabaseMetaData) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {DatabaseMetaData.class}, (proxy, method, given) -> switch (method.getName()) {
          case "getDatabaseProductName" -> "PostgreSQL";
          case "getDatabaseMajorVersion" -> 14;
          default -> "jdbc:postgresql://old/db?password=secret";
        });
    var source = (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DataSource.class},
        (proxy, method, given) -> Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class},
            (connection, call, arguments) -> switch (call.getName()) {
              case "getMetaData" -> data;
              case "getAutoCommit" -> true;
              case "getNetworkTimeout" -> 0;
              default -> null;
            }));

    var failure = assertThrows(IllegalArgumentException.class, () -> JdbcStore.open(source));

    assertEquals("a store cannot be in PostgreSQL 14; give Postgres 15 or newer", failure.getMessage());
  }

  // ---- locks

  @Test
  void lockedActorDelaysNoOther() throws Exception {
    var store = open();
    long ada = store.load(ADA).life();
    long grace = store.load(GRACE).life();
    try (var other = database.getConnection(); var statement = other.createStatement()) {
      other.setAutoCommit(false); // as a process that begins a life of ada, and is slow
      statement.execute("select * from fibry_actor where actor = 'ada' for update");

      var late = store.append(turn(ADA, ada, 1));
      append(store, turn(GRACE, grace, 1));

      assertInstanceOf(StaleLifeException.class, refusal(late));
      other.rollback();
    }
    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  @Test
  void hangingDatabaseTimesOut() throws Exception {
    var patient = open();
    long life = patient.load(ADA).life();
    var store = openImpatient(pool);
    try (var other = database.getConnection(); var statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("lock table fibry_turn, fibry_snapshot");

      var failure = refusal(store.append(turn(ADA, life, 1)));
      assertThrows(StoreReadException.class, () -> store.load(GRACE));

      assertInstanceOf(StoreWriteException.class, failure, failure.toString());
      other.rollback();
    }
    append(patient, turn(ADA, patient.load(ADA).life(), 1));
  }

  /**
   * A store whose limit is to be reached. A busy machine may reach it while the store opens, too.
   */
  private JdbcStore openImpatient(DataSource source) {
    for (;;) try {
      return open(source, SHORT);
    } catch (StoreReadException slow) {
      // once more
    }
  }

  /** The database then refuses transactions that it cannot order. */
  @Test
  void competingStoresNeverForkWhenTransactionsAreSerializable() throws Exception {
    open().close();
    for (var isolation : List.of("repeatable\\ read", "serializable")) {
      execute("delete from fibry_actor; delete from fibry_turn");
      try (var strict = Pools.of(as("postgres", "-c default_transaction_isolation=" + isolation))) {
        fight(() -> open(strict));
      }
    }
  }

  /**
   * Stores a turn that is paused before its commit. A busy machine may reach the limit before: then
   * another one.
   */
  private CompletableFuture<Void> standStill(JdbcStore store, CountDownLatch held) {
    for (;;) try {
      var ada = store.load(ADA);
      var begun = new CountDownLatch(1);
      faults.onNextCommit((connection, call) -> {
        begun.countDown();
        held.await();
        return call.run();
      });
      var late = store.append(turn(ADA, ada.life(), ada.lastTurn() + 1)).toCompletableFuture();
      Patience.eventually(() -> begun.getCount() == 0 || late.isDone());
      if (begun.getCount() == 0) return late;
      faults.onNextCommit((connection, call) -> call.run());
    } catch (StoreReadException slow) {
      // once more
    }
  }

  /** Its connection stays open, as that of a machine that has lost its network. */
  @Test
  void hangingProcessLosesItsLocks() throws Exception {
    var patient = open(pool);
    append(patient, turn(ADA, patient.load(ADA).life(), 1));
    var still = openImpatient(faults.source());
    var held = new CountDownLatch(1);
    var late = standStill(still, held);

    var after = patient.load(ADA);

    assertEquals(1, after.lastTurn());
    held.countDown();
    assertEquals(Outcome.UNKNOWN, assertInstanceOf(StoreException.class, refusal(late)).outcome());
  }

  /** Views see turns before the oldest running transaction. */
  @Test
  void hangingProcessDelaysNoView() throws Exception {
    var other = open(pool);
    var still = openImpatient(faults.source());
    var held = new CountDownLatch(1);
    var late = standStill(still, held);
    append(other, turn(GRACE, other.load(GRACE).life(), 1));

    try (var history = other.history("account", "")) {
      assertEquals("grace", history.take().getFirst().key());
    }
    held.countDown();
    assertEquals(Outcome.UNKNOWN, assertInstanceOf(StoreException.class, refusal(late)).outcome());
  }
}
