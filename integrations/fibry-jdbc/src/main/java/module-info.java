import org.jspecify.annotations.NullMarked;

/** A store for durable actors in a database. */
@NullMarked
module io.fibry.jdbc {
  requires transitive io.fibry.durable;
  requires transitive java.sql;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.jdbc;
}
