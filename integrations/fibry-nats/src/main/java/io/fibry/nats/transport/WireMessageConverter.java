package io.fibry.nats.transport;

import io.fibry.cluster.spi.WireMessage;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Converts messages to messages of NATS, whose headers are printable ASCII. */
final class WireMessageConverter {
  private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

  private WireMessageConverter() {}

  static Headers headers(WireMessage wire) {
    var headers = new Headers();
    wire.headers().forEach((name, text) -> headers.put(name, encode(text)));
    return headers;
  }

  static NatsMessage.Builder toNatsMessage(WireMessage wire, Headers headers) {
    var message = NatsMessage.builder().subject(wire.subject()).data(wire.body());
    wire.replyTo().ifPresent(message::replyTo);
    return headers.isEmpty() ? message : message.headers(headers);
  }

  static WireMessage toWireMessage(Message message) {
    var body = message.getData() == null ? new byte[0] : message.getData();
    return new WireMessage(message.getSubject(), Optional.ofNullable(message.getReplyTo()), headers(message), body);
  }

  private static Map<String, String> headers(Message message) {
    if (!message.hasHeaders()) return Map.of();
    var headers = new HashMap<String, String>();
    message.getHeaders().forEach((name, texts) -> {
      if (!texts.isEmpty()) headers.put(name, decode(texts.getFirst()));
    });
    return headers;
  }

  static String encode(String text) {
    if (isPlain(text)) return text;
    var encoded = new StringBuilder();
    for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
      if (isPlain(octet) && octet != ' ') encoded.append((char) octet);
      else encoded.append('%').append((char) HEX[octet >> 4 & 15]).append((char) HEX[octet & 15]);
    }
    return encoded.toString();
  }

  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) if (!isPlain(text.charAt(i))) return false;
    return !text.startsWith(" ") && !text.endsWith(" "); // the client would trim these spaces
  }

  private static boolean isPlain(int character) {
    return character >= ' ' && character <= '~' && character != '%';
  }

  /** Decodes a header. Returns a text that is not in this encoding unchanged. */
  static String decode(String text) {
    if (text.indexOf('%') < 0) return text;
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      return text;
    }
  }
}
