package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What a turn says: the state, or events, and notes. Fields that come later are collections or
 * optional, so that what was written before them is read.
 *
 * @param last events of the turn that ended the actor: views see them, and no state follows
 */
record Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes, List<byte[]> last) {
  private static final Codec<Body> CODEC = Codec.of(Body.class);

  Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes) {
    this(state, events, notes, List.of());
  }

  static Body of(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  /** @param unknown gets fields that a newer version of the library has written */
  static Body of(byte[] bytes, Consumer<String> unknown) {
    return CODEC.decode(bytes, unknown);
  }

  /**
   * Encodes the body of a turn of an actor, which the exception names if the body is too large.
   */
  byte[] bytes(Store.ActorId actor) {
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
