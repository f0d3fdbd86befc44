package io.fibry.durable;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.jdbc.Faults;
import io.fibry.jdbc.JdbcStore;
import io.fibry.jdbc.Pools;
import io.fibry.jdbc.PostgresServer;
import io.fibry.store.spi.StoreBackend;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** Stores that share one database. A crash closes the connections of the crashed store. */
final class DatabaseStores implements TestStores {
  private final DataSource database;
  private final InstantSource clock;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private Faults faults;

  private DatabaseStores(DataSource database, InstantSource clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Uses Postgres. If Postgres cannot run, tests are skipped before they begin. */
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
  public StoreBackend open() {
    pools.add(Pools.of(database));
    faults = new Faults(pools.getLast());
    return StoreBackend.of(JdbcStore.open(faults.source(), options -> options.withClock(clock)));
  }

  @Override
  public StoreBackend crash(StoreBackend crashed) {
    pools.forEach(HikariDataSource::close);
    crashed.close();
    return open();
  }

  /** Lets the next write of a turn fail. */
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
