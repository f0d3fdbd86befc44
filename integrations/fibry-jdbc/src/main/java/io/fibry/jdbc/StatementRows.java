package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Rows for a statement that takes an array for each column. Used by one thread. */
final class StatementRows {
  /** The type of a column. */
  enum ColumnType {
    TEXT("varchar", String[]::new), NUMBER("int8", Long[]::new), FLAG("bool", Boolean[]::new), BYTES("bytea",
        byte[][]::new);

    private final String name;
    private final IntFunction<Object[]> newArray;

    ColumnType(String name, IntFunction<Object[]> newArray) {
      this.name = name;
      this.newArray = newArray;
    }
  }

  private final ColumnType[] types;
  private final List<Object[]> rows = new ArrayList<>();

  StatementRows(ColumnType... types) {
    this.types = types;
  }

  void add(Object... row) {
    rows.add(row);
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Sets the arrays as the first parameters of the statement, and returns it. */
  PreparedStatement set(Connection connection, PreparedStatement statement) throws SQLException {
    for (int i = 0; i < types.length; i++) {
      var values = types[i].newArray.apply(rows.size());
      for (int row = 0; row < values.length; row++) values[row] = rows.get(row)[i];
      statement.setArray(i + 1, connection.createArrayOf(types[i].name, values));
    }
    return statement;
  }

  /** Runs the statement, unless there are no rows, and returns how many rows it changed. */
  int run(Connection connection, String sql) throws SQLException {
    if (isEmpty()) return 0;
    try (var statement = connection.prepareStatement(sql)) {
      return set(connection, statement).executeUpdate();
    }
  }
}
