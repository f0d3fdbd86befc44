package io.fibry.net;

import io.fibry.text.Lines;
import java.util.Objects;

/**
 * A message from the client of a WebSocket. Immutable and thread-safe, if the array of a
 * {@link Binary} is not changed.
 */
public sealed interface WebSocketMessage {

  /**
   * A text.
   *
   * @param text may be empty
   */
  record Text(String text) implements WebSocketMessage {
    /** Refuses null. */
    public Text {
      Objects.requireNonNull(text, "text");
    }

    @Override
    public String toString() {
      return "text '" + Lines.line(text) + "'";
    }
  }

  /**
   * Bytes.
   *
   * @param data may be empty; not copied
   */
  record Binary(byte[] data) implements WebSocketMessage {
    /** Refuses null. */
    public Binary {
      Objects.requireNonNull(data, "data");
    }

    @Override
    public String toString() {
      return "a message of " + data.length + " bytes";
    }
  }
}
