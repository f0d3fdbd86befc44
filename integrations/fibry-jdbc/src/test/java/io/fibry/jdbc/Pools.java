package io.fibry.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;

/** Pools of connections, as programs have them. */
public final class Pools {
  private Pools() {}

  public static HikariDataSource of(DataSource source) {
    return of(source, 5, 20_000); // the limit of stores in tests
  }

  /** @param limit in milliseconds: so long may it take to get a connection */
  static HikariDataSource of(DataSource source, int connections, int limit) {
    var pool = new HikariDataSource();
    pool.setDataSource(source);
    pool.setMaximumPoolSize(connections);
    pool.setMinimumIdle(1);
    pool.setConnectionTimeout(limit);
    return pool;
  }
}
