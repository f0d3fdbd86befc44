package io.fibry.jdbc;

import io.fibry.store.StoreDamagedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** Creates the tables of a store if they are missing, and refuses tables of another format. */
final class StoreSchema {
  static final int FORMAT = 1;
  private static final Pattern MISSING = Pattern.compile("42P01|42S0."); // states for a missing table: Postgres, H2

  private StoreSchema() {}

  /** Creates or checks the tables. {@return the dialect of the database} */
  static SqlDialect open(Database database, String store) throws SQLException {
    var dialect = database.read(SqlDialect::of);
    try {
      check(database, dialect, store);
    } catch (SQLException missing) {
      if (!MISSING.matcher(String.valueOf(missing.getSQLState())).matches()) throw missing;
      create(database, dialect, store, missing);
    }
    return dialect;
  }

  private static void check(Database database, SqlDialect dialect, String store) throws SQLException {
    int version = database.commit(dialect, StoreSchema::version);
    if (version != FORMAT)
      throw new StoreDamagedException(store + " has format " + version + "; this version reads format " + FORMAT);
  }

  private static int version(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(SqlDialect.VERSION); var row = statement.executeQuery()) {
      if (row.next()) return row.getInt(1);
      throw new StoreDamagedException("the table fibry_format is empty; it has the version of the others: insert "
          + FORMAT + " if they are complete");
    }
  }

  private static void create(Database database, SqlDialect dialect, String store, SQLException missing)
      throws SQLException {
    try {
      database.commit(dialect, connection -> {
        try (var statement = connection.createStatement()) {
          for (var sql : dialect.schema()) statement.execute(sql);
        }
        return true;
      });
      LoggerFactory.getLogger(JdbcStore.class).info("{} has its tables now", store);
    } catch (SQLException failure) {
      try {
        check(database, dialect, store); // another process may have created them
      } catch (SQLException stillMissing) {
        failure.addSuppressed(missing);
        throw failure;
      }
    }
  }
}
