package io.fibry.nats.transport;

import io.nats.client.impl.Headers;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Headers of a message to publish, already in the form in which the client sends them. The client
 * would check its own headers, copy them into two maps, and serialize them after that. The client
 * reads only the bytes of published headers, so the texts cannot be read from this object.
 */
final class SerializedHeaders extends Headers {
  private static final byte[] VERSION = "NATS/1.0\r\n".getBytes(StandardCharsets.US_ASCII);

  private final byte[] bytes;
  private final int count;

  private SerializedHeaders(byte[] bytes, int count) {
    super(null, true);
    this.bytes = bytes;
    this.count = count;
  }

  /**
   * Serializes headers.
   *
   * @param headers texts by name, of which at least one exists
   * @throws IllegalArgumentException if a name has other characters than printable ASCII, or a
   * colon
   */
  static SerializedHeaders of(Map<String, String> headers) {
    var text = new StringBuilder(96);
    headers.forEach((name, value) -> text.append(checkName(name)).append(':')
        .append(WireMessageConverter.encode(value)).append("\r\n"));
    text.append("\r\n");
    byte[] bytes = new byte[VERSION.length + text.length()];
    System.arraycopy(VERSION, 0, bytes, 0, VERSION.length);
    byte[] lines = text.toString().getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(lines, 0, bytes, VERSION.length, lines.length);
    return new SerializedHeaders(bytes, headers.size());
  }

  private static String checkName(String name) {
    boolean isValid = !name.isEmpty();
    for (int i = 0; i < name.length(); i++)
      isValid &= name.charAt(i) > ' ' && name.charAt(i) <= '~' && name.charAt(i) != ':';
    if (!isValid)
      throw new IllegalArgumentException("a header of a message must have a name of printable ASCII without a colon");
    return name;
  }

  @Override
  public int size() {
    return count;
  }

  @Override
  public boolean isEmpty() {
    return false;
  }

  /** Returns true, so that the client does not copy the headers. */
  @Override
  public boolean isReadOnly() {
    return true;
  }

  @Override
  public int serializedLength() {
    return bytes.length;
  }

  @Override
  public byte[] getSerialized() {
    return bytes;
  }

  @Override
  public int serializeToArray(int position, byte[] target) {
    System.arraycopy(bytes, 0, target, position, bytes.length);
    return bytes.length;
  }
}
