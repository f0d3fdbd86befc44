package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A transaction of a {@link Database}, which commits it. Used by one thread.
 *
 * <p>On Postgres the begin, the options of the transaction and its first statements take one round
 * trip. For that the connection commits each statement until the transaction has begun, so that the
 * driver adds no BEGIN of its own. That BEGIN would be a message of its own. If the message alone
 * failed, as when it is cancelled, Postgres would run the statements behind it, and commit them.
 * After an error in its own sequence, Postgres skips the rest of the sequence.
 */
final class Transaction {
  private final SqlDialect dialect;
  private final Connection connection;
  private final int limitMillis;
  private final boolean mustForgetPlans;
  private boolean hasBegun;

  /**
   * @param limitMillis how long the transaction may be idle, in milliseconds
   * @param mustForgetPlans whether the connection must plan its statements again
   */
  Transaction(SqlDialect dialect, Connection connection, int limitMillis, boolean mustForgetPlans)
      throws SQLException {
    this.mustForgetPlans = mustForgetPlans;
    this.dialect = dialect;
    this.connection = connection;
    this.limitMillis = limitMillis;
    connection.setAutoCommit(dialect.sendsTogether());
  }

  SqlDialect dialect() {
    return dialect;
  }

  /** Returns the connection for queries that may run before the transaction begins. */
  Connection connection() {
    return connection;
  }

  /** Begins the transaction, and returns its connection. */
  Connection begin() throws SQLException {
    run(new StatementSequence());
    return connection;
  }

  /** Runs statements. Begins the transaction if that has not happened. */
  void run(StatementSequence statements) throws SQLException {
    if (!dialect.sendsTogether()) statements.runSeparately(connection);
    else if (hasBegun) statements.runTogether(connection);
    else begin(statements);
  }

  private void begin(StatementSequence statements) throws SQLException {
    hasBegun = true;
    new StatementSequence().add("begin").add(dialect.setTransactionOptions().formatted(limitMillis))
        .add(mustForgetPlans ? dialect.forgetPlans() : "").addAll(statements).runTogether(connection);
    connection.setAutoCommit(false); // the driver knows the open transaction, and does not commit it here
  }

  /** Undoes the statements, if there are any. The transaction may begin again. */
  void rollback() throws SQLException {
    if (hasBegun) connection.setAutoCommit(false); // also after a failed begin, which may have left it open
    if (hasBegun || !dialect.sendsTogether()) connection.rollback();
    hasBegun = false;
    connection.setAutoCommit(dialect.sendsTogether());
  }

  void commit() throws SQLException {
    if (hasBegun || !dialect.sendsTogether()) connection.commit();
  }
}
