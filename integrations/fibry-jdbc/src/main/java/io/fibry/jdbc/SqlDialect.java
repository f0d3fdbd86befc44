package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * The SQL of a database. Statements that are equal in all databases are constants, the others are
 * components. In the descriptions below, the parameters of a statement are in parentheses. If a
 * list of parameters begins with the word "columns", the statement gets any number of rows, see
 * {@link StatementRows}.
 *
 * @param schema the statements that create the tables
 * @param sendsTogether whether the driver sends statements that are separated by semicolons in one
 * round trip, and runs "begin" as one of them
 * @param setTransactionOptions a format with the parameter %d. This query limits how long its
 * transaction may be idle (milliseconds), makes the commit wait for the disk, and makes all
 * statements read by index. Empty if the database needs no such options
 * @param forgetPlans makes the connection plan its statements again. Empty if the database detects
 * by itself that its tables have grown
 * @param setReadOptions a query and a semicolon before a query that may be a transaction of its
 * own. It makes that query read by index. Empty if the database needs no such options
 * @param setLockLimit a query that makes the transaction fail if it waits longer than a tenth of a
 * second for a lock. Empty if the database has its own limit
 * @param beginLives begins a life of each actor (columns kind, actor), and returns kind, actor, and
 * the numbers of the life and of the last turn. If all of these lives are first lives, the commit
 * need not wait for the disk. If commits can be lost, no later life may get the number of a lost
 * life
 * @param advanceLastTurns sets the last turns of actors with the expected life and last turn
 * (columns kind, actor, life, first, last), and returns their kind, actor and life
 * @param insertMessages stores a message if fewer than {@code max_pending} messages of its actor
 * are due no later than the message (columns to_kind, to_actor, id, due, body, max_pending, kind,
 * actor, life, last). The last four columns are the actor, life and last turn of the turn that
 * sends the message, which is stored only if that turn is accepted. They are null if no turn sends
 * it. Returns kind, actor and id of stored messages
 * @param insertSnapshots stores the snapshots whose turns are stored (columns kind, actor, life,
 * number, body)
 * @param isAfter a condition for turns {@code t}: their positions are after a position (tx, place),
 * and every turn that is stored later gets a position after theirs
 * @param isForeign a condition for turns {@code t}: they were stored in another database cluster
 * @param isAhead a condition (tx): this database cluster has not used this transaction number yet
 * @param maxBodyBytes max bytes of a body
 */
record SqlDialect(List<String> schema, boolean sendsTogether, String setTransactionOptions, String forgetPlans,
    String setReadOptions,
    String setLockLimit,
    String beginLives,
    String advanceLastTurns, String insertMessages, String insertSnapshots, String isAfter, String isForeign,
    String isAhead, int maxBodyBytes) {

  /**
   * Reads the format of the tables. With "for update", the query fails if the database cannot be
   * written.
   */
  static final String READ_FORMAT = "select version from fibry_format for update";

  // ---- writing

  /**
   * A condition for rows {@code g} that belong to turns of a batch: the transaction has advanced
   * the last turn of their actor. It is sent before the store knows whether the actor has another
   * life. Each statement with rows of turns has it. Without it, refused turns would wait for the
   * locks of the other life: on its turns, and on the messages that both lives handle or send. It
   * is a subquery, so that it reads by index for one row after the other.
   */
  static final String IS_ACCEPTED = """
      (select a.last from fibry_actor a where a.kind = g.kind and a.actor = g.actor and a.life = g.life) = g.last""";

  /**
   * Stores accepted turns (columns kind, actor, life, last, number, millis, whole, body). Whole
   * means full state.
   */
  static final String INSERT_TURNS = """
      insert into fibry_turn (kind, actor, number, millis, whole, body)
      select g.kind, g.actor, g.number, g.millis, g.whole, g.body
      from {rows} g (kind, actor, life, last, number, millis, whole, body)
      where\s""" + IS_ACCEPTED;

  /**
   * Deletes the turns of actors before an accepted turn (columns kind, actor, life, last, number).
   */
  static final String DELETE_REPLACED_TURNS = """
      merge into fibry_turn t
      using (select g.kind, g.actor, g.number
        from {rows} g (kind, actor, life, last, number)
        where\s""" + IS_ACCEPTED + """
      ) g
      on t.kind = g.kind and t.actor = g.actor and t.number < g.number when matched then delete""";

  /** Deletes the turns of actors before a number (columns kind, actor, number). */
  static final String DELETE_EARLIER_TURNS = """
      merge into fibry_turn t
      using {rows} g (kind, actor, number)
      on t.kind = g.kind and t.actor = g.actor and t.number < g.number when matched then delete""";

  /** Deletes messages that an accepted turn has handled (columns kind, actor, life, last, id). */
  static final String DELETE_MESSAGES = """
      merge into fibry_message m
      using (select g.kind, g.actor, g.id
        from {rows} g (kind, actor, life, last, id)
        where\s""" + IS_ACCEPTED + """
      ) g
      on m.kind = g.kind and m.actor = g.actor and m.id = g.id when matched then delete""";

  /** Deletes turns (columns kind, actor, number). */
  static final String DELETE_TURNS = """
      merge into fibry_turn t
      using {rows} g (kind, actor, number)
      on t.kind = g.kind and t.actor = g.actor and t.number = g.number when matched then delete""";

  /** Sets the number of the last turn of an actor (number, kind, actor). */
  static final String SET_LAST_TURN = "update fibry_actor set last = ? where kind = ? and actor = ?";

  // ---- reading

  /** Reads the actors after an actor (kind, actor, max rows), by kind and key. */
  static final String ACTORS = """
      select kind, actor from (
        select kind, actor from fibry_actor where last > 0 union select kind, actor from fibry_message) a
      where (kind, actor) > (?, ?) order by kind, actor limit ?""";

  /**
   * Reads kind, actor, number, whole and body of the snapshots and turns of actors (columns kind,
   * actor), by number.
   */
  static final String READ_ACTORS = """
      select s.kind, s.actor, s.number, true as whole, s.body
      from {rows} g (kind, actor) join fibry_snapshot s on s.kind = g.kind and s.actor = g.actor
      union all
      select t.kind, t.actor, t.number, t.whole, t.body
      from {rows} g (kind, actor) join fibry_turn t on t.kind = g.kind and t.actor = g.actor and t.number > coalesce(
        (select s.number from fibry_snapshot s where s.kind = g.kind and s.actor = g.actor), 0)
      order by 3""";

  /** Reads the turns of an actor (kind, actor), with the columns of {@link #history}. */
  static final String TURNS_OF_ACTOR = """
      select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, t.whole, t.body
      from fibry_turn t where t.kind = ? and t.actor = ? order by t.number""";

  /** Reads kind, actor and id of the pending messages of actors (columns kind, actor). */
  static final String MESSAGE_IDS = """
      select m.kind, m.actor, m.id
      from {rows} g (kind, actor)
      join fibry_message m on m.kind = g.kind and m.actor = g.actor order by m.place""";

  static final String PENDING_OF_ACTOR = """
      select id, due, body from fibry_message where kind = ? and actor = ? and due <= ? order by place limit ?""";

  static final String DUE_TIME = "select due from fibry_message where kind = ? and actor = ? and id = ?";

  static final String NEXT_DUE_TIME = "select min(due) from fibry_message where kind = ? and actor = ? and due > ?";

  /** Reads pending messages of a kind after a message (kind, actor, id, max rows). */
  static final String PENDING_OF_KIND = """
      select actor, id, due from fibry_message where kind = ? and (actor, id) > (?, ?) order by actor, id limit ?""";

  /**
   * Reads tx, place, actor, number, millis, whole and body of turns after a position (kind, tx,
   * place), oldest first.
   */
  String history() {
    return """
        select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, t.whole, t.body
        from fibry_turn t where t.kind = ? and %s order by t.tx, t.place limit 256""".formatted(isAfter);
  }

  /**
   * Reads tx, place, actor, number, millis, the turn number of the actor's snapshot, and whole, of
   * turns after a position (kind, tx, place), oldest first.
   */
  String turnSummaries() {
    return """
        select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, s.number, t.whole
        from fibry_turn t left join fibry_snapshot s on s.kind = t.kind and s.actor = t.actor
        where t.kind = ? and %s order by t.tx, t.place limit 1000""".formatted(isAfter);
  }

  /**
   * Selects whether a turn was lost. It was lost if the database has not reached its transaction,
   * if its number belongs to a turn at another position, or if its actor has fewer turns.
   * Parameters are tx, kind, actor, number, position, and again kind, actor, number.
   */
  String isTurnLost() {
    return """
        select %s
          or exists (select 1 from fibry_turn t where t.kind = ? and t.actor = ? and t.number = ?
            and concat(cast(t.tx as varchar), '.', t.place) <> ?)
          or not exists (select 1 from fibry_actor a where a.kind = ? and a.actor = ? and a.last >= ?)"""
        .formatted(isAhead);
  }

  /** Selects whether a kind has turns of another database cluster (kind). */
  String anyForeign() {
    return "select exists (select 1 from fibry_turn t where t.kind = ? and %s)".formatted(isForeign);
  }

  /** Reads actor and body of all turns of a kind, by actor and number (kind). */
  static final String TURN_BODIES = "select actor, body from fibry_turn where kind = ? order by actor, number";

  /** Returns the dialect of the connected database. */
  static SqlDialect of(Connection connection) throws SQLException {
    var data = connection.getMetaData();
    String name = data.getDatabaseProductName();
    int version = data.getDatabaseMajorVersion();
    if (name.equals("PostgreSQL") && version >= PostgresDialect.MIN_VERSION) return PostgresDialect.DIALECT;
    if (name.equals("H2")) return H2Dialect.DIALECT;
    throw new IllegalArgumentException(
        "a store cannot be in " + name + " " + version + "; give Postgres " + PostgresDialect.MIN_VERSION
            + " or newer");
  }
}
