package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.compete;
import static io.fibry.durable.TestTurns.refusal;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.RequestOutcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests behavior that only a real database shows. */
class PostgresTest extends DatabaseFixture {
  private static final Duration STATEMENT_LIMIT = Duration.ofSeconds(2);

  private final CountDownLatch mayCommit = new CountDownLatch(1);

  PostgresTest() {
    super(DatabaseFixture::postgres);
  }

  /** Lets a paused commit continue, because the stores could not close otherwise. */
  @AfterEach
  void allowCommit() {
    mayCommit.countDown();
  }

  // ---- transactions

  /**
   * The begin and the statements behind it are sent together. If only the begin failed, and the
   * statements ran, Postgres would commit them.
   */
  @Test
  void cancelledBeginStatementStoresNothing() throws Exception {
    try (var canceller = new BeginCanceller((PGSimpleDataSource) database)) {
      var store = open(canceller.source());
      long life = store.load(ADA).life();
      append(store, turn(ADA, life, 1));

      canceller.cancelNext();
      assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 2))));

      assertEquals(0, canceller.pendingCancellations());
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
  void historyWaitsForEarlierUncommittedTurn() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    try (var connection = database.getConnection(); var statement = connection.createStatement()) {
      connection.setAutoCommit(false); // acts as another, slow process
      statement.execute("insert into fibry_turn (kind, actor, number, millis, whole, body) "
          + "values ('account', 'grace', 1, 0, false, '')");
      append(store, turn(ADA, life, 1));
      try (var history = store.history("account", "")) {
        var keys = new ArrayList<String>();
        var reads = new CountDownLatch(2); // when the second read begins, the first read has ended
        countReads(reads);
        CompletableFuture<Void> reading = Patience.callOnFiber(() -> {
          while (keys.size() < 3) history.take().forEach(turn -> keys.add(turn.key()));
          return null;
        });
        Patience.await(reads);
        append(store, turn(ADA, life, 2)); // wakes the reader, which gets no turn yet
        connection.commit();

        Patience.value(reading);
        assertEquals(List.of("grace", "ada", "ada"), keys);
      }
    }
  }

  /** Counts the latch down at each read of the history. */
  private void countReads(CountDownLatch reads) {
    faults.onNextStatement("t.whole, t.body", (connection, call) -> {
      countReads(reads);
      reads.countDown();
      return call.pass();
    });
  }

  @Test
  void turnsOfAnotherDatabaseClusterAreDetected() throws Exception {
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));
    execute("update fibry_turn set tx = '9999999999'"); // as after a copy by `pg_dump`
    var history = store.history("account", "");

    var failure = assertThrows(StoreDamagedException.class, history::take);

    assertTrue(failure.getMessage().endsWith(" has turns of kind 'account' from another cluster, so their order in the "
        + "history is unknown: run \"update fibry_turn set tx = '0'\" while no store is open, and let views "
        + "begin again"),
        failure.getMessage());
    execute("update fibry_turn set tx = '0'");
    assertEquals(1, store.history("account", "").take().size());
  }

  // ---- asynchronous commits

  @Test
  void commitsWaitForDiskDespiteSynchronousCommitOff() throws Exception {
    open().close();
    execute("create table seen (setting varchar)");
    execute("create function note() returns trigger language plpgsql as 'begin insert into seen values "
        + "(current_setting(''synchronous_commit'')); return null; end'");
    execute("create trigger noted after insert on fibry_turn for each statement execute function note()");
    for (var setting : List.of("off", "local", "remote_write")) {
      var store = open(dataSource("postgres", "-c synchronous_commit=" + setting));
      var ada = store.load(ADA);
      append(store, turn(ADA, ada.life(), ada.lastTurn() + 1));
    }

    assertEquals(1, number("select count(*) from seen where setting = 'on'")); // the store has replaced 'off' by 'on'
    assertEquals(1, number("select count(*) from seen where setting = 'local'"));
    assertEquals(1, number("select count(*) from seen where setting = 'remote_write'"));
  }

  /**
   * If the begin of a later life were lost, the life before it could store turns again, although
   * the later life has already replied.
   */
  @Test
  void onlyBeginOfFirstLifeDoesNotWaitForDisk() throws Exception {
    open().close();
    execute("create table seen (setting varchar)");
    execute("create function note() returns trigger language plpgsql as 'begin insert into seen values "
        + "(current_setting(''synchronous_commit'')); return null; end'");
    execute("create constraint trigger noted after insert or update on fibry_actor deferrable initially deferred "
        + "for each row execute function note()"); // runs at the commit

    var store = open();
    store.load(ADA);
    assertEquals(1, number("select count(*) from seen where setting = 'off'"));
    append(store, turn(ADA, store.load(ADA).life(), 1));
    store.load(ADA);

    assertEquals(1, number("select count(*) from seen where setting = 'off'"));
    assertEquals(3, number("select count(*) from seen where setting = 'on'")); // two begins and the turn
  }

  /** A failover to a replica that was behind may undo the begin of a life that still runs. */
  @Test
  void turnsAreRefusedIfDatabaseLostBeginOfTheirLife() throws Exception {
    var store = open();
    long first = store.load(ADA).life();
    append(store, turn(ADA, first, 1));
    var ada = store.load(ADA);
    execute("update fibry_actor set life = " + first); // the failover
    var otherStore = open();
    var adaElsewhere = otherStore.load(ADA);

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, ada.life(), 2))));
    append(otherStore, turn(ADA, adaElsewhere.life(), 2));
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, ada.life(), 3))));

    append(otherStore, turn(ADA, adaElsewhere.life(), 3));
    assertEquals(3, open().load(ADA).lastTurn());
  }

  /** The actor had no turn yet, so the crash also undoes its row. */
  @Test
  void turnsAreRefusedIfDatabaseLostBeginOfFirstLife() throws Exception {
    var store = open();
    long lost = store.load(ADA).life();
    execute("delete from fibry_actor"); // the crash
    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, lost, 1))));

    var otherStore = open();
    append(otherStore, turn(ADA, otherStore.load(ADA).life(), 1));

    assertInstanceOf(StaleLifeException.class, refusal(store.append(turn(ADA, lost, 2))));
  }

  // ---- permissions

  private DataSource dataSource(String user, String options) {
    var source = new PGSimpleDataSource();
    var postgres = (PGSimpleDataSource) database;
    source.setURL(postgres.getURL());
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
  void databaseUserNeedsOnlySelectInsertUpdateAndDelete() throws Exception {
    String user = newUser();
    String schema = ((PGSimpleDataSource) database).getCurrentSchema();
    var failure = assertThrows(StoreReadException.class, () -> JdbcStore.open(dataSource(user, "")));
    assertTrue(failure.getMessage().contains("permission denied for schema " + schema), failure.getMessage());

    execute(JdbcStore.schema());
    execute("grant select, insert, update, delete on all tables in schema " + schema + " to " + user);
    var store = open(dataSource(user, ""));

    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    append(store, new StoreBackend.Turn(ADA, life, 2, Instant.now(), true, new byte[1], List.of("a"),
        List.of(new StoreBackend.PendingMessage(ADA, "b", Instant.EPOCH, new byte[1]))));
    store.snapshot(turn(ADA, life, 2, true));
    assertEquals(2, store.load(ADA).lastTurn());
  }

  @Test
  void passwordInUrlIsNotInNameOfStore() throws Exception {
    String url = ((PGSimpleDataSource) database).getURL() + "&user=postgres&password=secret";
    var source = (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DataSource.class},
        (proxy, method, args) -> DriverManager.getConnection(url));

    assertEquals("the store in " + url.replaceAll("[?].*", ""), open(source).toString());
    try (var connection = source.getConnection()) {
      assertTrue(connection.getMetaData().getURL().contains("secret")); // the driver's URL has the password
    }
  }

  @Test
  void readOnlyDatabaseIsRefused() {
    open().close();

    var failure = assertThrows(StoreReadException.class,
        () -> JdbcStore.open(dataSource("postgres", "-c default_transaction_read_only=on")));

    assertTrue(failure.getMessage().endsWith("SELECT FOR UPDATE in a read-only transaction"), failure.getMessage());
  }

  @Test
  void temporarilyReadOnlyDatabaseRefusesTurns() throws Exception {
    String user = newUser();
    String schema = ((PGSimpleDataSource) database).getCurrentSchema();
    execute(JdbcStore.schema());
    execute("grant all on all tables in schema " + schema + " to " + user);
    var store = open(dataSource(user, ""));
    long life = store.load(ADA).life();
    execute("alter role " + user + " set default_transaction_read_only = on");

    var failure = assertInstanceOf(StoreWriteException.class, refusal(store.append(turn(ADA, life, 1))));

    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    assertTrue(failure.getMessage().contains("in a read-only transaction"), failure.getMessage());
    execute("alter role " + user + " reset default_transaction_read_only");
    append(store, turn(ADA, life, 1));
  }

  @Test
  void oldPostgresVersionIsRefused() {
    var data = (DatabaseMetaData) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {DatabaseMetaData.class}, (proxy, method, args) -> switch (method.getName()) {
          case "getDatabaseProductName" -> "PostgreSQL";
          case "getDatabaseMajorVersion" -> 14;
          default -> "jdbc:postgresql://old/db?password=secret";
        });
    var source = (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DataSource.class},
        (proxy, method, args) -> Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class},
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
  void actorWithLockedRowDelaysNoOtherActor() throws Exception {
    var store = open();
    long ada = store.load(ADA).life();
    long grace = store.load(GRACE).life();
    try (var lockHolder = database.getConnection(); var statement = lockHolder.createStatement()) {
      lockHolder.setAutoCommit(false); // acts as a slow process that begins a life of ada
      statement.execute("select * from fibry_actor where actor = 'ada' for update");

      var turnOfAda = store.append(turn(ADA, ada, 1));
      append(store, turn(GRACE, grace, 1));

      assertInstanceOf(StaleLifeException.class, refusal(turnOfAda));
      lockHolder.rollback();
    }
    append(store, turn(ADA, store.load(ADA).life(), 1));
  }

  @Test
  void turnsAndLoadsTimeOutWhenDatabaseHangs() throws Exception {
    var patientStore = open();
    long life = patientStore.load(ADA).life();
    var store = openImpatient(pool);
    try (var lockHolder = database.getConnection(); var statement = lockHolder.createStatement()) {
      lockHolder.setAutoCommit(false);
      statement.execute("lock table fibry_turn, fibry_snapshot");

      var failure = refusal(store.append(turn(ADA, life, 1)));
      assertThrows(StoreReadException.class, () -> store.load(GRACE));

      assertInstanceOf(StoreWriteException.class, failure, failure.toString());
      lockHolder.rollback();
    }
    append(patientStore, turn(ADA, patientStore.load(ADA).life(), 1));
  }

  /**
   * Opens a store with a short limit. Tries again if opening takes longer, on a busy machine.
   */
  private StoreBackend openImpatient(DataSource source) {
    return Patience.valueDespite(StoreReadException.class, () -> open(source, STATEMENT_LIMIT));
  }

  /**
   * At the isolation levels REPEATABLE READ and SERIALIZABLE, the database refuses conflicting
   * transactions.
   */
  @Test
  void competingSerializableStoresNeverForkHistory() throws Exception {
    open().close();
    for (var isolation : List.of("repeatable\\ read", "serializable")) {
      execute("delete from fibry_actor; delete from fibry_turn");
      try (var strictPool = Pools.of(dataSource("postgres", "-c default_transaction_isolation=" + isolation))) {
        compete(() -> open(strictPool));
      }
    }
  }

  /**
   * Begins to store a turn, and pauses its transaction before the commit. Tries again with another
   * turn if a busy machine reaches the statement limit before the commit.
   */
  private CompletableFuture<Void> pauseBeforeCommit(StoreBackend store) {
    for (;;) try {
      var ada = store.load(ADA);
      var commitBegun = new CountDownLatch(1);
      faults.onNextCommit((connection, call) -> {
        commitBegun.countDown();
        mayCommit.await();
        return call.pass();
      });
      var pausedTurn = store.append(turn(ADA, ada.life(), ada.lastTurn() + 1)).toCompletableFuture();
      Patience.eventually(() -> commitBegun.getCount() == 0 || pausedTurn.isDone());
      if (commitBegun.getCount() == 0) return pausedTurn;
      faults.onNextCommit((connection, call) -> call.pass());
    } catch (StoreReadException limitReached) {
      // try again
    }
  }

  /** The connection of the process stays open, as if its machine had lost the network. */
  @Test
  void hangingProcessLosesItsLocks() throws Exception {
    var patientStore = open(pool);
    append(patientStore, turn(ADA, patientStore.load(ADA).life(), 1));
    var hangingStore = openImpatient(faults.source());
    var pausedTurn = pauseBeforeCommit(hangingStore);

    var ada = patientStore.load(ADA);

    assertEquals(1, ada.lastTurn());
    mayCommit.countDown();
    assertEquals(RequestOutcome.UNKNOWN, assertInstanceOf(StoreException.class, refusal(pausedTurn)).outcome());
  }

  /** A view reads only turns that are older than the oldest running transaction. */
  @Test
  void hangingProcessDelaysNoView() throws Exception {
    var healthyStore = open(pool);
    var hangingStore = openImpatient(faults.source());
    var pausedTurn = pauseBeforeCommit(hangingStore);
    append(healthyStore, turn(GRACE, healthyStore.load(GRACE).life(), 1));

    try (var history = healthyStore.history("account", "")) {
      assertEquals("grace", history.take().getFirst().key());
    }
    mayCommit.countDown();
    assertEquals(RequestOutcome.UNKNOWN, assertInstanceOf(StoreException.class, refusal(pausedTurn)).outcome());
  }
}
