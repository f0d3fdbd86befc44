package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Statements that a transaction runs one after the other, and whose texts do not depend on earlier
 * results. The driver of Postgres sends all of them in one round trip, and reads the first result
 * only when it has sent the last statement. So if a statement may return many rows, the statements
 * behind it must be short. Used by one thread.
 */
final class StatementSequence {
  /** Reads a row. */
  interface RowReader {
    void read(ResultSet row) throws SQLException;
  }

  private static final RowReader NO_ROWS = row -> {};

  private record BoundStatement(String sql, StatementRows parameters, RowReader reader) {
    String text() {
      return parameters.complete(sql);
    }
  }

  private final List<BoundStatement> steps = new ArrayList<>();

  /** Adds a query, unless its text is empty. Its rows are ignored. */
  StatementSequence add(String query) {
    return query.isEmpty() ? this : add(query, new StatementRows(), NO_ROWS);
  }

  /** Adds a statement that returns no rows, unless it has no rows to change. */
  StatementSequence add(String sql, StatementRows parameters) {
    return parameters.isEmpty() ? this : add(sql, parameters, NO_ROWS);
  }

  /** Adds a statement. The reader gets each row that it returns. */
  StatementSequence add(String sql, StatementRows parameters, RowReader reader) {
    steps.add(new BoundStatement(sql, parameters, reader));
    return this;
  }

  StatementSequence addAll(StatementSequence others) {
    steps.addAll(others.steps);
    return this;
  }

  /** Runs all statements as one statement of the driver, which sends them together. */
  void runTogether(Connection connection) throws SQLException {
    if (steps.isEmpty()) return;
    try (var statement =
        connection.prepareStatement(steps.stream().map(BoundStatement::text).collect(Collectors.joining(";\n")))) {
      int parameterCount = 0;
      for (var step : steps) parameterCount = step.parameters.set(connection, statement, step.sql, parameterCount);
      statement.execute();
      for (int i = 0; i < steps.size(); i++) {
        if (i > 0) statement.getMoreResults();
        readRows(statement, steps.get(i));
      }
    }
  }

  /** Runs the statements one after the other, with a round trip for each. */
  void runSeparately(Connection connection) throws SQLException {
    for (var step : steps) try (var statement = connection.prepareStatement(step.text())) {
      step.parameters.set(connection, statement, step.sql, 0);
      statement.execute();
      readRows(statement, step);
    }
  }

  private static void readRows(PreparedStatement statement, BoundStatement step) throws SQLException {
    if (step.reader == NO_ROWS) return;
    try (var rows = statement.getResultSet()) {
      while (rows.next()) step.reader.read(rows);
    }
  }
}
