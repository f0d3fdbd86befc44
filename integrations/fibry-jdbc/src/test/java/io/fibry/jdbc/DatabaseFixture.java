package io.fibry.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;

/** Gives each test its own database, a pool of connections to it, and stores in it. */
abstract class DatabaseFixture {
  /** Creates a database. */
  interface Maker {
    DataSource make() throws SQLException;
  }

  private static final Duration STATEMENT_LIMIT = Duration.ofSeconds(20);

  final DataSource database;
  final HikariDataSource pool;
  final Faults faults;
  final List<StoreBackend> stores = new ArrayList<>();

  DatabaseFixture(Maker maker) {
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

  /** Opens a store whose connections may fail. */
  StoreBackend open() {
    return open(faults.source());
  }

  StoreBackend open(DataSource source) {
    return open(source, STATEMENT_LIMIT);
  }

  StoreBackend open(DataSource source, InstantSource clock) {
    return open(source, options -> options.withStatementLimit(STATEMENT_LIMIT).withClock(clock));
  }

  StoreBackend open(DataSource source, Duration limit) {
    return open(source, options -> options.withStatementLimit(limit));
  }

  StoreBackend open(DataSource source, UnaryOperator<JdbcStore.Options> change) {
    var store = StoreBackend.of(JdbcStore.open(source, change));
    stores.add(store);
    return store;
  }

  @AfterEach
  void close() {
    stores.forEach(Store::close);
    pool.close();
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
}
