package io.fibry.bench.durable;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** SQLite: a transaction for each batch, with a write-ahead log that is synced at each commit. */
record Sqlite(Connection connection, PreparedStatement insert) implements EmbeddedStore {

  static Sqlite open(Path folder) throws SQLException {
    var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("entries"));
    try (var statement = connection.createStatement()) {
      statement.execute("pragma journal_mode = wal");
      statement.execute("pragma synchronous = full");
      statement.execute("create table entry (actor text, number integer, body blob, primary key (actor, number))"
          + " without rowid");
    }
    connection.setAutoCommit(false);
    return new Sqlite(connection, connection.prepareStatement("insert into entry values (?, ?, ?)"));
  }

  @Override
  public void commit(List<Entry> batch) throws SQLException {
    for (var entry : batch) {
      insert.setString(1, entry.actor());
      insert.setLong(2, entry.number());
      insert.setBytes(3, entry.body());
      insert.addBatch();
    }
    insert.executeBatch();
    connection.commit();
  }

  @Override
  public long count() throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery("select count(*) from entry")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException failure) {
      throw new IllegalStateException("SQLite cannot be closed", failure);
    }
  }
}
