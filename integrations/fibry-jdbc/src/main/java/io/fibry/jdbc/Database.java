package io.fibry.jdbc;

import io.fibry.text.Lines;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Runs transactions, each on a connection that it borrows from a data source. Thread-safe. */
final class Database {
  private static final int MAX_ATTEMPTS = 3;
  // SQL states: a wait for a lock took too long in H2 (after two seconds) or in Postgres
  private static final Set<String> LOCK_TIMEOUT_STATES = Set.of("HYT00", "55P03");
  // Pause after such a state, because some databases are set not to wait for locks at all.
  private static final long RETRY_NANOS = 10_000_000;
  private static final String UNKNOWN_OUTCOME_STATE = "40003"; // class 40 means rolled back, except for this state

  /** Work with a connection. It runs again if its transaction was undone. */
  interface DatabaseWork<T> {
    T run(Connection connection) throws SQLException;
  }

  /** A connection was lost during a commit, so it is not known whether the commit succeeded. */
  static final class LostCommitException extends SQLException {
    private static final long serialVersionUID = 1;

    LostCommitException(SQLException cause) {
      super(Lines.message(cause), cause.getSQLState(), cause);
    }
  }

  private final DataSource source;
  private final int limitMillis;

  /** @param limitMillis how long the database may take for an answer, in milliseconds */
  Database(DataSource source, int limitMillis) {
    this.source = source;
    this.limitMillis = limitMillis;
  }

  int limitMillis() {
    return limitMillis;
  }

  /**
   * Runs work and commits it. If the database rolls the transaction back, or the connection breaks
   * before the commit, the work runs again within the limit. It runs at most three times, not
   * counting attempts that waited too long for a lock.
   */
  <T> T commit(SqlDialect dialect, DatabaseWork<T> work) throws SQLException {
    return run(withOptions(dialect, work), false);
  }

  /** Runs work and commits it, or fails at the first error. */
  <T> T commitOrFail(SqlDialect dialect, DatabaseWork<T> work) throws SQLException {
    return runOnce(withOptions(dialect, work), false);
  }

  private <T> DatabaseWork<T> withOptions(SqlDialect dialect, DatabaseWork<T> work) {
    return connection -> {
      begin(dialect, connection);
      return work.run(connection);
    };
  }

  /**
   * Runs a statement that changes no data as the first of a transaction. A driver sends BEGIN
   * together with it. If BEGIN is cancelled, Postgres runs this statement all the same, and commits
   * it alone, so it must do no harm.
   */
  private void begin(SqlDialect dialect, Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(dialect.setTransactionOptions())) {
      statement.setString(1, String.valueOf(limitMillis));
      statement.execute();
    }
  }

  /** Runs work that only reads, and whose statements need no common transaction. */
  <T> T read(DatabaseWork<T> work) throws SQLException {
    return run(work, true);
  }

  private <T> T run(DatabaseWork<T> work, boolean mayAutoCommit) throws SQLException {
    long deadline = System.nanoTime() + limitMillis * 1_000_000L;
    for (int failures = 0;;) try {
      return runOnce(work, mayAutoCommit);
    } catch (SQLException failure) {
      if (System.nanoTime() - deadline > 0) throw withoutSecrets(failure);
      if (isLockedOut(failure)) LockSupport.parkNanos(RETRY_NANOS);
      else if (++failures == MAX_ATTEMPTS || !isTransient(failure)) throw withoutSecrets(failure);
    }
  }

  private static SQLException withoutSecrets(SQLException failure) {
    var redacted = JdbcUrls.redact(failure);
    return redacted != failure && failure instanceof LostCommitException
        ? new LostCommitException(redacted) // the outcome stays unknown
        : redacted;
  }

  /** Returns whether another transaction, such as a backup, held a lock for too long. */
  private static boolean isLockedOut(SQLException failure) {
    return !(failure instanceof LostCommitException) && LOCK_TIMEOUT_STATES.contains(Objects.requireNonNullElse(
        failure.getSQLState(), ""));
  }

  private static boolean isTransient(SQLException failure) {
    return !(failure instanceof LostCommitException)
        && (isUndone(failure) || hasState(failure, "08") || hasState(failure, "57P"));
  }

  /** Returns whether the transaction was rolled back, as after a deadlock or a duplicate key. */
  private static boolean isUndone(SQLException failure) {
    return hasState(failure, "40") && !hasState(failure, UNKNOWN_OUTCOME_STATE) || hasState(failure, "23");
  }

  private static boolean hasState(SQLException failure, String prefix) {
    return failure.getSQLState() != null && failure.getSQLState().startsWith(prefix);
  }

  private <T> T runOnce(DatabaseWork<T> work, boolean mayAutoCommit) throws SQLException {
    var connection = source.getConnection();
    boolean isAutoCommit = false; // whether the connection commits each statement
    int previousTimeout = 0;
    try {
      previousTimeout = connection.getNetworkTimeout();
      connection.setNetworkTimeout(Runnable::run, limitMillis);
      isAutoCommit = connection.getAutoCommit();
      if (isAutoCommit && !mayAutoCommit) connection.setAutoCommit(false);
      T result = work.run(connection);
      if (!isAutoCommit || !mayAutoCommit) commit(connection);
      return result;
    } catch (Throwable failure) {
      if (!isAutoCommit || !mayAutoCommit) quietly(connection::rollback);
      throw failure;
    } finally {
      release(connection, isAutoCommit && !mayAutoCommit, previousTimeout);
    }
  }

  private static void commit(Connection connection) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException failure) {
      throw isUndone(failure) ? failure : new LostCommitException(failure);
    } catch (Throwable failure) { // such as an OutOfMemoryError
      throw new LostCommitException(new SQLException("the driver failed", failure));
    }
  }

  /** Returns a connection to its source. Ignores failures, because the work may be committed. */
  private static void release(Connection connection, boolean restoreAutoCommit, int previousTimeout) {
    if (restoreAutoCommit) quietly(() -> connection.setAutoCommit(true));
    quietly(() -> connection.setNetworkTimeout(Runnable::run, previousTimeout));
    quietly(connection::close);
  }

  private interface CleanupStep {
    void run() throws SQLException;
  }

  private static void quietly(CleanupStep step) {
    try {
      step.run();
    } catch (Throwable ignored) {
      // The pool of the data source detects broken connections itself. An error after a commit must
      // not hide that the commit succeeded.
    }
  }
}
