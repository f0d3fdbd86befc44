package io.fibry.durable.storage;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The content of a turn: the state or events, and notes. Fields that later versions add must be
 * collections or optional, so that older bodies can be decoded.
 *
 * @param last the events of a turn that erased the actor. Views read these events, but no state is
 *     computed from them
 */
public record Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes, List<byte[]> last) {
  private static final Codec<Body> CODEC = Codec.of(Body.class);

  public Body(Optional<byte[]> state, List<byte[]> events, List<Note> notes) {
    this(state, events, notes, List.of());
  }

  public static Body of(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  /** @param onUnknownField gets the name of each field that only a newer version knows */
  public static Body of(byte[] bytes, Consumer<String> onUnknownField) {
    return CODEC.decode(bytes, onUnknownField);
  }

  /**
   * Encodes the body of a turn of this actor. If the body is too large, the exception names the
   * actor.
   */
  public byte[] bytes(Store.ActorId actor) {
    try {
      return bytes();
    } catch (CodecException tooLarge) {
      throw new CodecException("a turn of " + actor + " cannot be stored: " + Lines.message(tooLarge), tooLarge);
    }
  }

  public byte[] bytes() {
    return CODEC.encode(this);
  }
}
