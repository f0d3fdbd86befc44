import org.jspecify.annotations.NullMarked;

/** A network for clusters, over NATS servers with JetStream. */
@NullMarked
module io.fibry.nats {
  requires transitive io.fibry.cluster;
  requires transitive io.nats.jnats;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.nats;

  opens io.fibry.nats to io.fibry.durable; // its codecs encode and decode the records of this package
}
