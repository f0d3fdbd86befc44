package io.fibry.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;

/** Creates pools of connections with the settings of typical programs. */
public final class Pools {
  private Pools() {}

  public static HikariDataSource of(DataSource source) {
    return of(source, 5, 20_000); // as long as the statement limit of stores in tests
  }

  /** @param limit maximum wait for a connection, in milliseconds */
  static HikariDataSource of(DataSource source, int connections, int limit) {
    var pool = new HikariDataSource();
    pool.setDataSource(source);
    pool.setMaximumPoolSize(connections);
    pool.setMinimumIdle(1);
    pool.setConnectionTimeout(limit);
    return pool;
  }
}
