package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.List;
import java.util.Optional;

/**
 * What a turn says: the state, or events, and notes. Fields that come later are collections or
 * optional, so that what was written before them is read.
 */
record Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes) {
  private static final Codec<Body> CODEC = Codec.of(Body.class);

  static Body of(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  /** Of an actor, which is told where this is too large. */
  byte[] bytes(Store.Id actor) {
    try {
      return bytes();
    } catch (CodecException tooLarge) {
      throw new CodecException("a turn of " + actor + " cannot be stored: " + Lines.message(tooLarge), tooLarge);
    }
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }
}
