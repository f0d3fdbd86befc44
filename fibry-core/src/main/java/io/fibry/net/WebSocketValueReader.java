package io.fibry.net;

import java.io.IOException;
import java.util.Objects;
import java.util.function.Function;

/** Reads the texts of a client, as values of another type. Used by the thread that reads. */
final class WebSocketValueReader<T> extends ClientReader<T> {
  private final WebSocketReader messages;
  private final Function<String, T> reader;
  private Object latest; // the message of the last value

  WebSocketValueReader(WebSocketReader messages, Function<String, T> reader) {
    super(messages.in, messages.maxLength);
    this.messages = messages;
    this.reader = Objects.requireNonNull(reader, "reader");
  }

  @Override
  T read() throws IOException {
    var message = messages.read();
    latest = message;
    return switch (message) {
      case null -> null;
      case WebSocketMessage.Text(var text) -> value(text);
      case WebSocketMessage.Binary bytes -> throw messages.refusal(WebSocketClose.UNSUPPORTED,
          "bytes, where only texts are read");
    };
  }

  private T value(String text) throws IOException {
    try {
      return Objects.requireNonNull(reader.apply(text), "what was read of a text");
    } catch (IllegalArgumentException unreadable) {
      var refusal = messages.refusal(WebSocketClose.INVALID, "a text that cannot be read");
      refusal.initCause(unreadable);
      throw refusal;
    }
  }

  @Override
  Object describe(T value) {
    return latest;
  }
}
