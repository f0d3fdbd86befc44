import org.jspecify.annotations.NullMarked;

/** Actors that survive the process: what they know is stored before it is told. */
@NullMarked
module io.fibry.durable {
  requires static org.jspecify;

  exports io.fibry.codec;
}
