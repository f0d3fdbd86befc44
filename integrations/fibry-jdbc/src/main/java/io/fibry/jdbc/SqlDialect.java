package io.fibry.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * The SQL of a database: statements that all databases understand below, and those that differ as
 * components. Where it says columns, a parameter is an array, with an element for each row.
 *
 * @param schema makes the tables
 * @param limit bounds how long this transaction may be idle (limit), and changes no data
 * @param begin raises the life of an actor (kind, actor); answers life and last
 * @param fence moves the last numbers of actors, where their lives and numbers are right (columns
 * kind, actor, life, first, last); answers kind, actor and life of these
 * @param messages stores messages, unless as many as `maxParameters` wait already (columns kind, actor, id,
 * due, body, most); returns kind, actor and id of those that it stored
 * @param snapshots stores them where the turns of the actor are stored (columns kind, actor, life,
 * number, body)
 * @param behind a condition for turns {@code t}: they are behind a place (tx, place), and none can
 * be stored any more that belongs before them
 * @param foreign a condition for turns {@code t}: they were not stored in this cluster
 * @param ahead a condition (tx): the transaction of a place is still to come
 * @param maxParameters how many bytes a body may have
 */
record SqlDialect(List<String> schema, String limit, String begin, String fence, String messages, String snapshots,
    String behind, String foreign, String ahead, int maxParameters) {

  /** For update, so that a database that cannot be written is found out. */
  static final String VERSION = "select version from fibry_format for update";

  // ---- writing

  /** Columns kind, actor, number, millis, whole, body. */
  static final String TURNS = """
      insert into fibry_turn (kind, actor, number, millis, whole, body)
      select * from unnest(cast(? as varchar array), cast(? as varchar array), cast(? as bigint array),
        cast(? as bigint array), cast(? as boolean array), cast(? as bytea array))""";

  /** Columns kind, actor, number: turns before these are not read any more. */
  static final String DEAD = """
      merge into fibry_turn t
      using unnest(cast(? as varchar array), cast(? as varchar array), cast(? as bigint array)) g (kind, actor, number)
      on t.kind = g.kind and t.actor = g.actor and t.number < g.number when matched then delete""";

  /** Columns kind, actor, id. */
  static final String DONE = """
      merge into fibry_message m
      using unnest(cast(? as varchar array), cast(? as varchar array), cast(? as varchar array)) g (kind, actor, id)
      on m.kind = g.kind and m.actor = g.actor and m.id = g.id when matched then delete""";

  /** Columns kind, actor, number: these turns. */
  static final String GONE = """
      merge into fibry_turn t
      using unnest(cast(? as varchar array), cast(? as varchar array), cast(? as bigint array)) g (kind, actor, number)
      on t.kind = g.kind and t.actor = g.actor and t.number = g.number when matched then delete""";

  /** Number, kind and actor. */
  static final String LAST = "update fibry_actor set last = ? where kind = ? and actor = ?";

  // ---- reading

  /** Behind which kind and actor; how many. */
  static final String ACTORS = """
      select kind, actor from (
        select kind, actor from fibry_actor where last > 0 union select kind, actor from fibry_message) a
      where (kind, actor) > (?, ?) order by kind, actor limit ?""";

  /** Kind and actor, three times; answers number, whole and body. */
  static final String READ = """
      select number, true as whole, body from fibry_snapshot where kind = ? and actor = ?
      union all
      select number, whole, body from fibry_turn where kind = ? and actor = ?
        and number > coalesce((select number from fibry_snapshot where kind = ? and actor = ?), 0)
      order by number""";

  /** Kind and actor; answers as the history does. */
  static final String TURNS_OF_ACTOR = """
      select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, t.whole, t.body
      from fibry_turn t where t.kind = ? and t.actor = ? order by t.number""";

  static final String IDS = "select id from fibry_message where kind = ? and actor = ? order by place";

  static final String WAITING = """
      select id, due, body from fibry_message where kind = ? and actor = ? and due <= ? order by place limit ?""";

  static final String DUE = "select due from fibry_message where kind = ? and actor = ? and id = ?";

  static final String NEXT = "select min(due) from fibry_message where kind = ? and actor = ? and due > ?";

  /** Parameters are the kind, the actor and id behind which to begin, and the number of rows. */
  static final String ALL_WAITING = """
      select actor, id, due from fibry_message where kind = ? and (actor, id) > (?, ?) order by actor, id limit ?""";

  /**
   * Kind, tx, place; answers tx, place, actor, number, millis, whole and body of turns, oldest
   * first.
   */
  String history() {
    return """
        select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, t.whole, t.body
        from fibry_turn t where t.kind = ? and %s order by t.tx, t.place limit 256""".formatted(behind);
  }

  /** Selects the numbers of the snapshots instead of bodies. */
  String ages() {
    return """
        select cast(t.tx as varchar), t.place, t.actor, t.number, t.millis, s.number, t.whole
        from fibry_turn t left join fibry_snapshot s on s.kind = t.kind and s.actor = t.actor
        where t.kind = ? and %s order by t.tx, t.place limit 1000""".formatted(behind);
  }

  /**
   * Parameters are the transaction of the place, the kind, actor, number and place of the turn
   * there, and its kind, actor and number again. Selects whether that turn was lost: its
   * transaction is still to come, or another turn has its number, or its actor has not come so far.
   */
  String lostTurns() {
    return """
        select %s
          or exists (select 1 from fibry_turn t where t.kind = ? and t.actor = ? and t.number = ?
            and concat(cast(t.tx as varchar), '.', t.place) <> ?)
          or not exists (select 1 from fibry_actor a where a.kind = ? and a.actor = ? and a.last >= ?)"""
        .formatted(ahead);
  }

  /** The parameter is the kind; selects whether there are such rows. */
  String anyForeign() {
    return "select exists (select 1 from fibry_turn t where t.kind = ? and %s)".formatted(foreign);
  }

  /** The parameter is the kind; selects actor and body of all present turns, oldest first. */
  static final String BODIES = "select actor, body from fibry_turn where kind = ? order by actor, number";

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
