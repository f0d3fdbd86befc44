package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;

/** A database of its own for each test, a pool of connections to it, and a store in it. */
abstract class AtADatabase {
  /** Makes a database. */
  interface Maker {
    DataSource make() throws SQLException;
  }

  static final Store.Id ADA = new Store.Id("account", "ada");
  static final Store.Id GRACE = new Store.Id("account", "grace");
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long POLL = 1_000_000;

  final DataSource database;
  final HikariDataSource pool;
  final Faults faults;
  private final List<Store> stores = new ArrayList<>();

  AtADatabase(Maker maker) {
    try {
      database = maker.make();
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
    pool = Pools.of(database);
    faults = new Faults(pool);
  }

  static DataSource h2() {
    var database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    return database;
  }

  static DataSource postgres() throws SQLException {
    return PostgresServer.shared().newSchema();
  }

  /** Its connections may fail. */
  JdbcStore open() {
    return open(faults.source(), LIMIT);
  }

  JdbcStore open(DataSource source, Duration limit) {
    var store = JdbcStore.open(source, options -> options.withLimit(limit));
    stores.add(store);
    return store;
  }

  @AfterEach
  void close() {
    stores.forEach(Store::close);
    pool.close();
  }

  // ---- turns

  static Store.Turn turn(Store.Id id, long life, long number) {
    return turn(id, life, number, false, (byte) number);
  }

  static Store.Turn turn(Store.Id id, long life, long number, boolean whole, byte... body) {
    return new Store.Turn(id, life, number, Instant.now(), whole, body, List.of(), List.of());
  }

  static void append(Store store, Store.Turn turn) {
    store.append(turn).toCompletableFuture().join();
  }

  /** What a turn or message was refused by. */
  static Throwable refusal(CompletionStage<?> given) {
    try {
      throw new AssertionError("it is " + given.toCompletableFuture().get());
    } catch (ExecutionException failed) {
      return failed.getCause();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Three stores that each want the same actor for themselves. */
  void fight(DataSource source) throws InterruptedException {
    Map<Long, Byte> told = new ConcurrentHashMap<>(); // which store has stored a turn
    var fighters = new ArrayList<Thread>();
    var failures = new CopyOnWriteArrayList<Throwable>();
    for (byte i = 0; i < 3; i++) {
      byte who = i;
      var store = open(source, LIMIT);
      fighters.add(Thread.ofVirtual().uncaughtExceptionHandler((thread, failure) -> failures.add(failure))
          .start(() -> fight(store, who, told)));
    }
    for (var fighter : fighters) fighter.join();

    assertEquals(List.of(), failures);
    var read = open().load(ADA);
    assertTrue(read.last() > 0);
    assertEquals(LongStream.rangeClosed(1, read.last()).boxed().toList(), told.keySet().stream().sorted().toList());
    for (int i = 0; i < read.last(); i++) assertEquals(told.get(i + 1L), read.bodies().get(i)[0]);
  }

  private static void fight(Store store, byte who, Map<Long, Byte> told) {
    for (int round = 0; round < 20; round++) try {
      var read = store.load(ADA);
      for (long number = read.last() + 1; number < read.last() + 10; number++) {
        append(store, turn(ADA, read.life(), number, false, who));
        told.merge(number, who, (one, two) -> {
          throw new AssertionError("both " + one + " and " + two + " have stored a turn");
        });
      }
    } catch (CompletionException | StoreReadException lost) {
      // against another one
    }
  }

  // ---- the database

  void execute(String sql) throws SQLException {
    try (var connection = database.getConnection(); var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long number(String sql) throws SQLException {
    try (var connection = database.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  static void eventually(BooleanSupplier fact) {
    long end = System.nanoTime() + LONG.toNanos();
    while (!fact.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it never came true");
      LockSupport.parkNanos(POLL);
    }
  }
}
