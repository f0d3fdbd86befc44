package io.fibry.durable;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.jdbc.Faults;
import io.fibry.jdbc.JdbcStore;
import io.fibry.jdbc.Pools;
import io.fibry.jdbc.PostgresServer;
import io.fibry.store.Store;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** Stores in a database of their own; a crash cuts the connections of the one before. */
final class DatabaseStores implements TestStores {
  private final DataSource database;
  private final InstantSource clock;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private Faults faults;

  private DatabaseStores(DataSource database, InstantSource clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Where there is no Postgres, tests are skipped before they begin. */
  static Maker postgres() {
    var server = PostgresServer.shared();
    return (folder, clock) -> new DatabaseStores(server.newSchema(), clock);
  }

  static Maker h2() {
    return (folder, clock) -> {
      var database = new JdbcDataSource();
      database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
      return new DatabaseStores(database, clock);
    };
  }

  @Override
  public Store open() {
    pools.add(Pools.of(database));
    faults = new Faults(pools.getLast());
    return JdbcStore.open(faults.source(), options -> options.withClock(clock));
  }

  @Override
  public Store crash(Store before) {
    pools.forEach(HikariDataSource::close);
    before.close();
    return open();
  }

  /** Of turns. */
  void failNextWrite() {
    faults.onNextStatement("set last", (connection, call) -> {
      throw new SQLException("made up, for a test", "25006");
    });
  }

  @Override
  public void close() {
    pools.forEach(HikariDataSource::close);
  }
}
