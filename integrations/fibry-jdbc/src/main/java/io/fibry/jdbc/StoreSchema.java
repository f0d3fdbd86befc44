package io.fibry.jdbc;

import io.fibry.store.StoreDamagedException;
import io.fibry.text.SafeLogger;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Pattern;

/** Creates the tables of a store if they are missing, and refuses tables of another format. */
final class StoreSchema {
  static final int FORMAT = 1;
  private static final Pattern MISSING_TABLE = Pattern.compile("42P01|42S0."); // SQL states of Postgres and of H2

  private StoreSchema() {}

  /** Creates or checks the tables. {@return the dialect of the database} */
  static SqlDialect createOrCheck(Database database, String storeName) throws SQLException {
    var dialect = database.read(SqlDialect::of);
    try {
      check(database, dialect, storeName);
    } catch (SQLException missing) {
      if (!MISSING_TABLE.matcher(String.valueOf(missing.getSQLState())).matches()) throw missing;
      create(database, dialect, storeName, missing);
    }
    return dialect;
  }

  private static void check(Database database, SqlDialect dialect, String storeName) throws SQLException {
    int format = database.commit(dialect, transaction -> readFormat(transaction.begin()));
    if (format != FORMAT)
      throw new StoreDamagedException(storeName + " has format " + format + "; this version reads format " + FORMAT);
  }

  private static int readFormat(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(SqlDialect.READ_FORMAT); var row = statement.executeQuery()) {
      if (row.next()) return row.getInt(1);
      throw new StoreDamagedException("the table fibry_format is empty, but must contain the number of the tables' "
          + "format; if the other tables are complete, insert " + FORMAT);
    }
  }

  private static void create(Database database, SqlDialect dialect, String storeName, SQLException missing)
      throws SQLException {
    try {
      database.commit(dialect, transaction -> {
        try (var statement = transaction.begin().createStatement()) {
          for (var sql : dialect.schema()) statement.execute(sql);
        }
        return true;
      });
      SafeLogger.of(JdbcStore.class).info("the tables of {} were missing, and have been created", storeName);
    } catch (SQLException failure) {
      try {
        check(database, dialect, storeName); // another process may have created the tables
      } catch (SQLException stillMissing) {
        failure.addSuppressed(missing);
        failure.addSuppressed(stillMissing);
        throw failure;
      }
    }
  }
}
