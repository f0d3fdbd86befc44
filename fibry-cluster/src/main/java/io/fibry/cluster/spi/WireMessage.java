package io.fibry.cluster.spi;

import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A message from one node to another. Thread-safe, as long as no thread changes the bytes of the
 * body.
 *
 * @param subject the address of the receivers, which consists of names with dots between them
 * @param replyTo the subject of the answer, or empty if no answer is expected
 * @param headers texts by name; the texts may have any characters
 * @param body the encoded message
 */
public record WireMessage(String subject, Optional<String> replyTo, Map<String, String> headers, byte[] body) {

  /** Checks the components, and copies the headers. */
  public WireMessage {
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(replyTo, "replyTo");
    headers = Map.copyOf(headers);
    Objects.requireNonNull(body, "body");
  }

  /**
   * Makes a message to a subject.
   *
   * @param subject the address of the receivers
   * @param headers texts by name
   * @param body the encoded message
   * @return a message that expects no answer
   */
  public static WireMessage oneWay(String subject, Map<String, String> headers, byte[] body) {
    return new WireMessage(subject, Optional.empty(), headers, body);
  }

  /**
   * Returns a copy whose sender expects an answer.
   *
   * @param replySubject the subject of the answer
   * @return the copy
   */
  public WireMessage withReplyTo(String replySubject) {
    return new WireMessage(subject, Optional.of(replySubject), headers, body);
  }

  /**
   * {@return a copy with one more header}
   *
   * @param name the name of the header
   * @param text its value, which replaces a former value
   */
  public WireMessage withHeader(String name, String text) {
    var copy = new HashMap<>(headers);
    copy.put(name, text);
    return new WireMessage(subject, replyTo, copy, body);
  }

  /**
   * Returns the value of a header.
   *
   * @param name the name of the header
   * @return its value, or empty if the message has no such header
   */
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }

  /**
   * Checks the size of the body. Called by transports before they send the message.
   *
   * @param maxBytes how many bytes a body may have
   * @throws IllegalArgumentException if the body has more
   */
  public void checkSize(int maxBytes) {
    if (body.length > maxBytes) throw new IllegalArgumentException(
        "a message to " + subject + " has " + body.length + " bytes; at most " + maxBytes + " can be sent");
  }

  /** {@return the subject, the headers and the size, without the bytes} */
  @Override
  public String toString() {
    return Lines.escaped(subject + " " + headers) + ", " + body.length + " bytes";
  }
}
