package io.fibry.durable;

import io.fibry.codec.Codec;
import java.util.List;
import java.util.Optional;

/**
 * What a turn says: the state, or events, and notes. Fields that come later are collections or
 * optional, so that what was written before them is read.
 */
record Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes) {
  private static final Codec<Body> CODEC = Codec.of(Body.class);
  static final Body NOTHING = new Body(Optional.empty(), List.of(), List.of());

  static Body of(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }
}
