import org.jspecify.annotations.NullMarked;

/** A network for clusters, over NATS servers with JetStream. */
@NullMarked
module io.fibry.nats {
  requires transitive io.fibry.cluster;
  requires transitive io.nats.jnats;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.nats;

  // the codecs of fibry-durable read and write the turns of a store, and the table for askers
  opens io.fibry.nats.store to io.fibry.durable;
  opens io.fibry.nats.transport to io.fibry.durable;
}
