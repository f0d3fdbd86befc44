package io.fibry.test;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Splits the bytes of one response, after which the server has closed the connection, or which has
 * no body.
 */
final class ResponseParser {
  private static final byte[] END_OF_HEAD = {'\r', '\n', '\r', '\n'};

  private final byte[] bytes;
  private int position; // index of the next byte of the body
  final Map<String, List<String>> headers = new LinkedHashMap<>(); // by name in lower case
  int status;
  byte[] body;

  private ResponseParser(byte[] bytes) {
    this.bytes = bytes;
  }

  static ResponseParser parse(String method, byte[] bytes) throws IOException {
    var parser = new ResponseParser(bytes);
    parser.parse(method);
    return parser;
  }

  /** Returns the length of the head of the response, or -1 if the bytes have only a part of it. */
  static int headLength(byte[] bytes) {
    int end = new ResponseParser(bytes).indexOf(END_OF_HEAD, 0);
    return end < 0 ? -1 : end + END_OF_HEAD.length;
  }

  private void parse(String method) throws IOException {
    if (bytes.length == 0) throw new EOFException("the server has closed the connection without a response");
    int end = indexOf(END_OF_HEAD, 0);
    if (end < 0) throw new EOFException("the response broke off within its head");
    var lines = new String(bytes, 0, end, StandardCharsets.ISO_8859_1).split("\r\n");
    position = end + END_OF_HEAD.length;
    status = Integer.parseInt(lines[0].split(" ")[1]);
    for (var line : Arrays.asList(lines).subList(1, lines.length)) {
      int colon = line.indexOf(':');
      headers.computeIfAbsent(line.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(line.substring(colon + 1).strip());
    }
    boolean hasBody = !method.equals("HEAD") && status != 101 && status != 204 && status != 304;
    body = hasBody ? body() : new byte[0];
  }

  private byte[] body() throws IOException {
    if (headers.containsKey("transfer-encoding")) return chunks();
    var rest = Arrays.copyOfRange(bytes, position, bytes.length);
    var length = headers.get("content-length");
    if (length != null && Integer.parseInt(length.getFirst()) != rest.length)
      throw new EOFException("the response broke off: its body has " + rest.length + " of " + length.getFirst()
          + " bytes");
    return rest;
  }

  private byte[] chunks() throws IOException {
    var body = new ByteArrayOutputStream();
    while (true) {
      int lineEnd = indexOf(new byte[] {'\r', '\n'}, position);
      if (lineEnd < 0) throw new EOFException("the response broke off between two chunks");
      int size = Integer.parseInt(new String(bytes, position, lineEnd - position, StandardCharsets.US_ASCII), 16);
      position = lineEnd + 2;
      if (size == 0) return body.toByteArray();
      if (position + size + 2 > bytes.length) throw new EOFException("the response broke off within a chunk");
      body.write(bytes, position, size);
      position += size + 2;
    }
  }

  private int indexOf(byte[] part, int start) {
    for (int i = start; i <= bytes.length - part.length; i++)
      if (Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) return i;
    return -1;
  }
}
