package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Rows for a statement, whose text has {@link #ROWS} in place of them. Several rows are a parameter
 * for each column, an array. The values of a single row are parameters of their own. Postgres plans
 * such a statement once, because it joins no table. The plan of a join depends on the number of
 * rows, so Postgres plans it again each time, which takes longer than the execution for one row.
 * Used by one thread.
 */
final class StatementRows {
  /** Stands for a table of the rows in the text of a statement. */
  static final String ROWS = "{rows}";

  /** The type of a column. */
  enum ColumnType {
    TEXT("varchar", Types.VARCHAR, String[]::new), NUMBER("int8", Types.BIGINT, Long[]::new), FLAG("bool",
        Types.BOOLEAN, Boolean[]::new),
    BYTES("bytea", Types.BINARY, byte[][]::new);

    private final String name;
    private final int jdbcType;
    private final IntFunction<Object[]> newArray;

    ColumnType(String name, int jdbcType, IntFunction<Object[]> newArray) {
      this.name = name;
      this.jdbcType = jdbcType;
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

  /** Returns the statement with tables of these rows in place of {@link #ROWS}. */
  String complete(String sql) {
    return sql.replace(ROWS, table());
  }

  private String table() {
    return rows.size() == 1 ? parameters(")", "(values (", "))") : parameters(" array)", "unnest(", ")");
  }

  private String parameters(String endOfType, String prefix, String suffix) {
    return Arrays.stream(types).map(type -> "cast(? as " + type.name + endOfType)
        .collect(Collectors.joining(", ", prefix, suffix));
  }

  /**
   * Sets the parameters of each table in a statement, after its first parameters. Returns the
   * number of all parameters that are set.
   *
   * @param sql the statement as {@link #complete} gets it
   */
  int set(Connection connection, PreparedStatement statement, String sql, int parameterCount) throws SQLException {
    int count = parameterCount;
    for (int i = sql.indexOf(ROWS); i >= 0; i = sql.indexOf(ROWS, i + 1))
      for (int column = 0; column < types.length; column++) setColumn(connection, statement, ++count, column);
    return count;
  }

  private void setColumn(Connection connection, PreparedStatement statement, int parameter, int column)
      throws SQLException {
    if (rows.size() == 1) {
      statement.setObject(parameter, rows.getFirst()[column], types[column].jdbcType);
      return;
    }
    var values = types[column].newArray.apply(rows.size());
    for (int row = 0; row < values.length; row++) values[row] = rows.get(row)[column];
    statement.setArray(parameter, connection.createArrayOf(types[column].name, values));
  }

  /** Runs the statement, unless there are no rows, and returns how many rows it changed. */
  int run(Connection connection, String sql) throws SQLException {
    if (isEmpty()) return 0;
    try (var statement = connection.prepareStatement(complete(sql))) {
      set(connection, statement, sql, 0);
      return statement.executeUpdate();
    }
  }
}
