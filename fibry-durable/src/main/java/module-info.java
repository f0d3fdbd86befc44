import org.jspecify.annotations.NullMarked;

/** Actors that survive the process: their state is stored before their answers are sent. */
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
  exports io.fibry.store.spi;
}
