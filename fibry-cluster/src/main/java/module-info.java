import org.jspecify.annotations.NullMarked;

/** Actors on several machines, used like local actors. */
@NullMarked
module io.fibry.cluster {
  requires transitive io.fibry.durable;
  requires jdk.jfr;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.cluster;
  exports io.fibry.cluster.spi;

  // the codecs of fibry-durable read and write the records that nodes exchange
  opens io.fibry.cluster to io.fibry.durable;
  opens io.fibry.cluster.membership to io.fibry.durable;
  opens io.fibry.cluster.partition to io.fibry.durable;
  opens io.fibry.cluster.remote to io.fibry.durable;
  opens io.fibry.cluster.wire to io.fibry.durable;
}
