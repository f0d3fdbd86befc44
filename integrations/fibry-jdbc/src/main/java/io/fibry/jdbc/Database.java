package io.fibry.jdbc;

import io.fibry.text.Lines;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Runs transactions, each on a connection that it borrows from a data source. Thread-safe. */
final class Database {
  private static final int MAX_ATTEMPTS = 3;
  // SQL states: a wait for a lock took too long in H2 (after two seconds) or in Postgres
  private static final Set<String> LOCK_TIMEOUT_STATES = Set.of("HYT00", "55P03");
  // Pause after such a state, because some databases are set not to wait for locks at all.
  private static final long RETRY_NANOS = 10_000_000;
  // Each such transaction lets its connection forget its plans. A prime number, so that it does not
  // always meet the same connection if loads and commits alternate.
  private static final int PLAN_USES = 61;
  private static final String UNKNOWN_OUTCOME_STATE = "40003"; // class 40 means rolled back, except for this state

  /** Work that only reads. It runs again if the connection was lost. */
  interface DatabaseWork<T> {
    T run(Connection connection) throws SQLException;
  }

  /** Work of a transaction. It runs again if the transaction was undone. */
  interface TransactionWork<T> {
    T run(Transaction transaction) throws SQLException;
  }

  private interface Attempt<T> {
    T run() throws SQLException;
  }

  /** A connection was lost during a commit, so it is not known whether the commit succeeded. */
  static final class LostCommitException extends SQLException {
    private static final long serialVersionUID = 1;

    LostCommitException(SQLException cause) {
      super(Lines.message(cause), cause.getSQLState(), cause);
    }
  }

  private final AtomicInteger transactionCount = new AtomicInteger();
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
  <T> T commit(SqlDialect dialect, TransactionWork<T> work) throws SQLException {
    return run(() -> commitOrFail(dialect, work));
  }

  /** Runs work and commits it, or fails at the first error. */
  <T> T commitOrFail(SqlDialect dialect, TransactionWork<T> work) throws SQLException {
    return borrow(connection -> {
      boolean mustForgetPlans = transactionCount.incrementAndGet() % PLAN_USES == 0;
      var transaction = new Transaction(dialect, connection, limitMillis, mustForgetPlans);
      boolean mustUndo = true;
      try {
        T result = work.run(transaction);
        commit(transaction);
        mustUndo = false;
        return result;
      } finally {
        if (mustUndo) quietly(transaction::rollback);
      }
    });
  }

  /** Runs work that only reads, and whose statements need no common transaction. */
  <T> T read(DatabaseWork<T> work) throws SQLException {
    return run(() -> borrow(connection -> {
      boolean mustEnd = !connection.getAutoCommit();
      try {
        T result = work.run(connection);
        if (mustEnd) connection.commit();
        mustEnd = false;
        return result;
      } finally {
        if (mustEnd) quietly(connection::rollback);
      }
    }));
  }

  private <T> T run(Attempt<T> attempt) throws SQLException {
    long deadline = System.nanoTime() + limitMillis * 1_000_000L;
    for (int failures = 0;;) try {
      return attempt.run();
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
    return hasState(failure, "40") && !hasState(failure, UNKNOWN_OUTCOME_STATE) || isConstraintViolated(failure);
  }

  /** Returns whether the database refused a row, such as a second row with the same key. */
  static boolean isConstraintViolated(SQLException failure) {
    return hasState(failure, "23");
  }

  private static boolean hasState(SQLException failure, String prefix) {
    return failure.getSQLState() != null && failure.getSQLState().startsWith(prefix);
  }

  private <T> T borrow(DatabaseWork<T> work) throws SQLException {
    var connection = source.getConnection();
    try {
      boolean isAutoCommit = connection.getAutoCommit(); // whether the connection commits each statement
      int previousTimeout = connection.getNetworkTimeout();
      try {
        connection.setNetworkTimeout(Runnable::run, limitMillis);
        return work.run(connection);
      } finally {
        restore(connection, isAutoCommit, previousTimeout);
      }
    } finally {
      quietly(connection::close);
    }
  }

  private static void commit(Transaction transaction) throws SQLException {
    try {
      transaction.commit();
    } catch (SQLException failure) {
      throw isUndone(failure) ? failure : new LostCommitException(failure);
    } catch (Throwable failure) { // such as an OutOfMemoryError
      throw new LostCommitException(new SQLException("the driver failed", failure));
    }
  }

  /** Restores settings of a connection. Ignores failures, because the work may be committed. */
  private static void restore(Connection connection, boolean isAutoCommit, int previousTimeout) {
    quietly(() -> connection.setAutoCommit(isAutoCommit));
    quietly(() -> connection.setNetworkTimeout(Runnable::run, previousTimeout));
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
