package io.fibry.cluster.spi;

import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A message from one node to another. Thread-safe, as long as nobody changes the bytes.
 *
 * @param subject where to: names with dots between them
 * @param replyTo the subject of the answer, or empty if no answer is expected
 * @param headers texts by name, with any letters
 * @param body bytes
 */
public record WireMessage(String subject, Optional<String> replyTo, Map<String, String> headers, byte[] body) {

  /** Checks and copies. */
  public WireMessage {
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(replyTo, "replyTo");
    headers = Map.copyOf(headers);
    Objects.requireNonNull(body, "body");
  }

  /**
   * Makes a message to a subject.
   *
   * @param subject where to
   * @param headers texts by name
   * @param body bytes
   * @return without a subject for the answer
   */
  public static WireMessage to(String subject, Map<String, String> headers, byte[] body) {
    return new WireMessage(subject, Optional.empty(), headers, body);
  }

  /**
   * A copy whose sender waits for an answer.
   *
   * @param answers the subject of the answer
   * @return it
   */
  public WireMessage withReplyTo(String answers) {
    return new WireMessage(subject, Optional.of(answers), headers, body);
  }

  /**
   * {@return a copy with another header}
   *
   * @param name of the header
   * @param text its value
   */
  public WireMessage withHeader(String name, String text) {
    var more = new HashMap<>(headers);
    more.put(name, text);
    return new WireMessage(subject, replyTo, more, body);
  }

  /**
   * A header.
   *
   * @param name of it
   * @return its text, or empty if it has none
   */
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }

  /**
   * For engines, before they send it.
   *
   * @param max how many bytes a body may have
   * @throws IllegalArgumentException if it has more
   */
  public void checkSize(int max) {
    if (body.length > max) throw new IllegalArgumentException(
        "a message to " + subject + " has " + body.length + " bytes; at most " + max + " can be sent");
  }

  /** {@return where to, and how much: not the bytes} */
  @Override
  public String toString() {
    return Lines.escaped(subject + " " + headers) + ", " + body.length + " bytes";
  }
}
