import org.jspecify.annotations.NullMarked;

/** Nodes that find each other by servers of NATS. */
@NullMarked
module io.fibry.nats {
  requires transitive io.fibry.cluster;
  requires transitive io.nats.jnats;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.nats;

  opens io.fibry.nats to io.fibry.durable; // which writes and reads what is stored
}
