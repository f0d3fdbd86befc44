package io.fibry.jdbc;

import io.fibry.text.Lines;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Transactions on connections that are borrowed for them. Thread-safe. */
final class Database {
  private static final int ATTEMPTS = 3;
  // Of H2, after two seconds; of Postgres.
  private static final Set<String> LOCK_TIMEOUT_STATES = Set.of("HYT00", "55P03");
  private static final long RETRY_NANOS = 10_000_000; // ns; the database may be told not to wait at all
  private static final String UNKNOWN_OUTCOME_STATE = "40003"; // of class 40, whether it was undone

  /** Work with a connection; it may run several times if the transaction was undone. */
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
  private final int limit;

  /** @param limit in milliseconds: the database may take so long for an answer */
  Database(DataSource source, int limit) {
    this.source = source;
    this.limit = limit;
  }

  int limit() {
    return limit;
  }

  /**
   * Runs work and commits it. Where the database says that it undid this, or the connection breaks
   * before the commit, the work runs again, within the limit. Where the database has waited for a
   * lock as long as it does by its own settings, that is not an attempt.
   */
  <T> T commit(SqlDialect dialect, DatabaseWork<T> work) throws SQLException {
    return run(connection -> {
      begin(dialect, connection);
      return work.run(connection);
    }, false);
  }

  /**
   * The first statement of each transaction. A driver sends BEGIN together with the first
   * statement. If BEGIN is cancelled, Postgres runs that statement all the same, and commits it by
   * itself. So the first statement changes nothing.
   */
  private void begin(SqlDialect dialect, Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(dialect.limit())) {
      statement.setString(1, String.valueOf(limit));
      statement.execute();
    }
  }

  /** Runs work that is one statement, and only reads. */
  <T> T read(DatabaseWork<T> work) throws SQLException {
    return run(work, true);
  }

  private <T> T run(DatabaseWork<T> work, boolean single) throws SQLException {
    long end = System.nanoTime() + limit * 1_000_000L;
    for (int failures = 0;;) try {
      return runOnce(work, single);
    } catch (SQLException failure) {
      if (System.nanoTime() - end > 0) throw failure;
      if (isLockedOut(failure)) LockSupport.parkNanos(RETRY_NANOS);
      else if (++failures == ATTEMPTS || !isTransient(failure)) throw failure;
    }
  }

  /** Before the commit: a lock of another transaction, such as a backup's, was not to be had. */
  private static boolean isLockedOut(SQLException failure) {
    return !(failure instanceof LostCommitException) && LOCK_TIMEOUT_STATES.contains(Objects.requireNonNullElse(
        failure.getSQLState(), ""));
  }

  private static boolean isTransient(SQLException failure) {
    return !(failure instanceof LostCommitException)
        && (isUndone(failure) || hasState(failure, "08") || hasState(failure, "57P"));
  }

  /** Transactions got in each other's way: as a deadlock, or as rows that both wanted to add. */
  private static boolean isUndone(SQLException failure) {
    return hasState(failure, "40") && !hasState(failure, UNKNOWN_OUTCOME_STATE) || hasState(failure, "23");
  }

  private static boolean hasState(SQLException failure, String states) {
    return failure.getSQLState() != null && failure.getSQLState().startsWith(states);
  }

  private <T> T runOnce(DatabaseWork<T> work, boolean single) throws SQLException {
    var connection = source.getConnection();
    boolean auto = false; // it commits each statement
    int before = 0;
    try {
      before = connection.getNetworkTimeout();
      connection.setNetworkTimeout(Runnable::run, limit);
      auto = connection.getAutoCommit();
      if (auto && !single) connection.setAutoCommit(false);
      T result = work.run(connection);
      if (!auto || !single) commit(connection);
      return result;
    } catch (Throwable failure) {
      if (!auto || !single) quietly(connection::rollback);
      throw failure;
    } finally {
      release(connection, auto && !single, before);
    }
  }

  private static void commit(Connection connection) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException failure) {
      throw isUndone(failure) ? failure : new LostCommitException(failure);
    } catch (Throwable failure) { // of memory
      throw new LostCommitException(new SQLException("the driver failed", failure));
    }
  }

  /** A failure here must not make a failure of what was committed. */
  private static void release(Connection connection, boolean auto, int before) {
    if (auto) quietly(() -> connection.setAutoCommit(true));
    quietly(() -> connection.setNetworkTimeout(Runnable::run, before));
    quietly(connection::close);
  }

  private interface CleanupStep {
    void run() throws SQLException;
  }

  private static void quietly(CleanupStep step) {
    try {
      step.run();
    } catch (SQLException | RuntimeException broken) {
      // the pool finds out, too
    }
  }
}
