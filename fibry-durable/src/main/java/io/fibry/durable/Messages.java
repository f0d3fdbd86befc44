package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.text.Lines;
import java.util.Optional;

/**
 * How messages of a kind become bytes.
 *
 * @param lacks why they do not; empty: they do
 */
record Messages<M>(Class<M> type, Optional<Codec<M>> codec, String lacks) {

  static <M> Messages<M> of(Class<M> type) {
    try {
      return new Messages<>(type, Optional.of(Codec.of(type)), "");
    } catch (IllegalArgumentException none) {
      return new Messages<>(type, Optional.empty(), Lines.message(none));
    }
  }

  Messages<M> by(Codec<M> given) {
    return new Messages<>(type, Optional.of(Checked.of(given)), "");
  }

  /** Throws if there is none. */
  Codec<M> known() {
    return codec.orElseThrow(() -> new IllegalArgumentException(
        "messages of " + type.getName() + " have no form in bytes, so they cannot be kept: " + lacks));
  }
}
