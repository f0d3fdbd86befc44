package io.fibry.jdbc;

import io.fibry.store.Store;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/**
 * A store in a database: Postgres, from version 15 on. Several stores, also of different processes,
 * may have one database open. For each actor, only the store that read it last stores turns.
 * Thread-safe.
 *
 * {@snippet class="io.fibry.jdbc.JavadocSnippetsTest" region="store"}
 *
 * <p>One thread stores everything that waits in one transaction. So the more actors are at work,
 * the less a turn costs. This thread and a few threads that read borrow their connections from the
 * data source, and return them after each transaction: give the store a pool. No actor ever holds a
 * connection.
 *
 * <p>While the database does not answer, turns and messages are refused; afterwards the store
 * recovers by itself. If a connection is lost during a commit, the askers learn that the {@link
 * io.fibry.store.StoreException#outcome() outcome} is unknown; the actors read the stored state
 * again.
 *
 * <p>H2 is supported for tests of programs. Do not store real data in H2: its SQL engine does not
 * force its file to disk.
 */
public abstract sealed class JdbcStore implements Store permits TableStore {

  JdbcStore() {}

  /**
   * Opens a store. If its tables are missing, it makes them in the default schema of these
   * connections, and logs that. A user of the database that may not make tables needs the tables of
   * {@link #schema}, and the rights to select, insert, update and delete.
   *
   * @param database where it is; not closed with the store
   * @return the store; close it
   * @throws io.fibry.store.StoreReadException if the database does not answer, or cannot be written
   * @throws io.fibry.store.StoreDamagedException if the tables belong to another version
   */
  public static JdbcStore open(DataSource database) {
    return open(database, options -> options);
  }

  /**
   * Opens a store with options.
   *
   * @param database where it is; not closed with the store
   * @param options changes the usual ones
   * @return the store; close it
   */
  public static JdbcStore open(DataSource database, UnaryOperator<Options> options) {
    return TableStore.open(Objects.requireNonNull(database, "database"), options.apply(Options.DEFAULT));
  }

  /** {@return the SQL that makes the tables in Postgres} */
  public static String schema() {
    return String.join(";\n", PostgresDialect.DIALECT.schema()) + ";\n";
  }

  /**
   * Options of a store. Immutable.
   *
   * @param maxPendingBytes bytes of turns that may wait to be stored: further senders wait
   * @param maxReaders threads that read, with a connection each; the storing thread has another
   * connection
   * @param statementLimit how long the database may take for an answer
   * @param pollInterval how often readers of the history look for turns of other processes
   * @param clock says when messages are due
   */
  public record Options(int maxPendingBytes, int maxReaders, Duration statementLimit, Duration pollInterval,
      InstantSource clock) {
    private static final int MIN_PENDING_BYTES = 4096;
    private static final Duration MAX_DURATION = Duration.ofHours(1);
    private static final Options DEFAULT =
        new Options(64 << 20, 4, Duration.ofSeconds(30), Duration.ofSeconds(1), InstantSource.system());

    /** Checks them. */
    public Options {
      if (maxPendingBytes < MIN_PENDING_BYTES)
        throw new IllegalArgumentException(
            "room for " + maxPendingBytes + " bytes; give " + MIN_PENDING_BYTES + " or more");
      if (maxReaders < 1) throw new IllegalArgumentException(maxReaders + " threads that read; give 1 or more");
      check("a limit", statementLimit);
      check("a poll", pollInterval);
      Objects.requireNonNull(clock, "clock");
    }

    private static void check(String what, Duration time) {
      if (time.compareTo(MAX_DURATION) > 0 || time.toMillis() < 1)
        throw new IllegalArgumentException(what + " of " + time + "; give a millisecond to an hour");
    }

    /**
     * Sets the room for turns that wait to be stored.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(bytes, maxReaders, statementLimit, pollInterval, clock);
    }

    /**
     * How many actors are read at a time.
     *
     * @param threads by default 4; each holds a connection while it reads
     * @return a changed copy
     */
    public Options withMaxReaders(int threads) {
      return new Options(maxPendingBytes, threads, statementLimit, pollInterval, clock);
    }

    /**
     * How long the database may take for an answer. After that, the call fails and the connection
     * is closed; the database ends a transaction that is idle for so long.
     *
     * @param longest by default 30 seconds
     * @return a changed copy
     */
    public Options withStatementLimit(Duration longest) {
      return new Options(maxPendingBytes, maxReaders, longest, pollInterval, clock);
    }

    /**
     * How often readers of the history look for turns of other processes. Those of this one they
     * see at once.
     *
     * @param period by default a second
     * @return a changed copy
     */
    public Options withPollInterval(Duration period) {
      return new Options(maxPendingBytes, maxReaders, statementLimit, period, clock);
    }

    /**
     * The clock that says when messages are due.
     *
     * @param time by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource time) {
      return new Options(maxPendingBytes, maxReaders, statementLimit, pollInterval, time);
    }
  }
}
