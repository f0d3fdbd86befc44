import org.jspecify.annotations.NullMarked;

/** Codecs that write JSON with Jackson. */
@NullMarked
module io.fibry.jackson {
  requires transitive io.fibry.durable;
  requires transitive tools.jackson.databind;
  requires static org.jspecify;

  exports io.fibry.jackson;
}
