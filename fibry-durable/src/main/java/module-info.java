import org.jspecify.annotations.NullMarked;

/** Actors that survive the process: what they know is stored before it is told. */
@NullMarked
module io.fibry.durable {
  requires transitive io.fibry;
  requires jdk.jfr;
  requires org.slf4j;
  requires static org.jspecify;

  exports io.fibry.codec;
  exports io.fibry.durable;
  exports io.fibry.store;
  exports io.fibry.store.folder;
}
