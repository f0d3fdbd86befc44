package io.fibry.net.websocket;

import io.fibry.net.WebSocketMessage;
import io.fibry.net.socket.ClientReader;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Function;

/** Reads the texts of a client, as values of another type. Used by one thread. */
final class WebSocketValueReader<T> extends ClientReader<T> {
  private final WebSocketReader messageReader;
  private final Function<String, T> reader;
  private Object lastMessage; // the message from which the last value was read; describe() returns it

  WebSocketValueReader(WebSocketReader messageReader, Function<String, T> reader) {
    super(messageReader.in, messageReader.maxLength);
    this.messageReader = messageReader;
    this.reader = Objects.requireNonNull(reader, "reader");
  }

  @Override
  protected T read() throws IOException {
    var message = messageReader.read();
    lastMessage = message;
    return switch (message) {
      case null -> null;
      case WebSocketMessage.Text(var text) -> value(text);
      case WebSocketMessage.Binary bytes -> throw messageReader.refuse(CloseFrame.UNSUPPORTED,
          "bytes, where only texts are read");
    };
  }

  private T value(String text) throws IOException {
    try {
      return Objects.requireNonNull(reader.apply(text), "the reader returned null for a text");
    } catch (IllegalArgumentException unreadable) {
      var refusal = messageReader.refuse(CloseFrame.INVALID, "a text that cannot be read");
      refusal.initCause(unreadable);
      throw refusal;
    }
  }

  @Override
  protected Object describe(T value) {
    return lastMessage;
  }
}
