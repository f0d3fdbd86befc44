package io.fibry.jdbc;

import io.fibry.store.Store;
import io.fibry.store.spi.WriteInbox;
import io.fibry.text.Durations;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/**
 * A store in a database: Postgres, from version 15 on. Several stores, also of different processes,
 * may use one database at the same time. For each actor, only the store that loaded the actor last
 * can store turns. Thread-safe.
 *
 * {@snippet class="io.fibry.jdbc.JavadocSnippetsTest" region="store"}
 *
 * <p>One thread stores all waiting turns and messages in one transaction. So the cost of a turn
 * falls when more actors are active. This thread and a few threads that read borrow connections
 * from the data source, and return them after each transaction. So the data source should be a
 * pool. No actor ever holds a connection.
 *
 * <p>While the database does not answer, turns and messages are refused. Afterwards the store
 * recovers by itself. If a connection is lost during a commit, the actors read the stored state
 * again. Their askers get an exception whose {@link io.fibry.store.StoreException#outcome()
 * outcome} is unknown.
 *
 * <p>H2 is supported for tests of programs. Do not store real data in H2: its SQL engine does not
 * sync its file to disk.
 */
public abstract sealed class JdbcStore implements Store permits TableStore {

  JdbcStore() {}

  /**
   * Opens a store. If the tables are missing, this method creates them in the default schema of the
   * connections, and logs that. A user of the database without the right to create tables needs the
   * tables of {@link #schema}, and the rights to select, insert, update and delete.
   *
   * @param database the data source, which is not closed with the store
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
   * @param database the data source, which is not closed with the store
   * @param options changes the default options
   * @return the store; close it
   */
  public static JdbcStore open(DataSource database, UnaryOperator<Options> options) {
    return TableStore.open(Objects.requireNonNull(database, "database"), options.apply(Options.DEFAULT));
  }

  /** {@return the SQL that creates the tables in Postgres} */
  public static String schema() {
    return String.join(";\n", PostgresDialect.DIALECT.schema()) + ";\n";
  }

  /**
   * Options of a store. Immutable.
   *
   * @param maxPendingBytes max bytes of turns and messages that are being stored; further senders
   * wait
   * @param maxReaders the number of threads that read, with a connection each; the writing thread
   * has another connection
   * @param statementLimit how long the database may take for an answer
   * @param pollInterval how often readers of the history check for turns of other processes
   * @param clock says when messages are due
   */
  public record Options(int maxPendingBytes, int maxReaders, Duration statementLimit, Duration pollInterval,
      InstantSource clock) {
    private static final Duration MAX_DURATION = Duration.ofHours(1);
    private static final Options DEFAULT =
        new Options(64 << 20, 4, Duration.ofSeconds(30), Duration.ofSeconds(1), InstantSource.system());

    /** Checks the options. */
    public Options {
      WriteInbox.checkMaxPendingBytes(maxPendingBytes);
      if (maxReaders < 1) throw new IllegalArgumentException(maxReaders + " threads that read; give 1 or more");
      check("a statement limit", statementLimit);
      check("a poll interval", pollInterval);
      Objects.requireNonNull(clock, "clock");
    }

    private static void check(String description, Duration duration) {
      if (duration.compareTo(MAX_DURATION) > 0 || duration.toMillis() < 1)
        throw new IllegalArgumentException(
            description + " of " + Durations.text(duration) + "; give a millisecond to an hour");
    }

    /**
     * Sets how many bytes of turns and messages may be pending. Further senders wait.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(bytes, maxReaders, statementLimit, pollInterval, clock);
    }

    /**
     * Sets how many threads read and load actors. Loads that wait for a thread share a transaction.
     *
     * @param threads by default 4; each holds a connection while it reads
     * @return a changed copy
     */
    public Options withMaxReaders(int threads) {
      return new Options(maxPendingBytes, threads, statementLimit, pollInterval, clock);
    }

    /**
     * Sets how long the database may take for an answer. After that, the call fails and the
     * connection is closed. The database ends a transaction that is idle for this time.
     *
     * @param limit by default 30 seconds
     * @return a changed copy
     */
    public Options withStatementLimit(Duration limit) {
      return new Options(maxPendingBytes, maxReaders, limit, pollInterval, clock);
    }

    /**
     * Sets how often readers of the history check for turns of other processes. They see turns of
     * this process at once, unless an older transaction still runs.
     *
     * @param interval by default a second
     * @return a changed copy
     */
    public Options withPollInterval(Duration interval) {
      return new Options(maxPendingBytes, maxReaders, statementLimit, interval, clock);
    }

    /**
     * Sets the clock that says when messages are due.
     *
     * @param clock by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource clock) {
      return new Options(maxPendingBytes, maxReaders, statementLimit, pollInterval, clock);
    }
  }
}
