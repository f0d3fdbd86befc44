package io.fibry.net;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;

/** The lines a client sends. */
final class ClientLineReader extends ClientReader<String> {
  static final ClientOutbox.LineFormat<String> FORMAT =
      new ClientOutbox.LineFormat<>(ClientLineReader::size, ClientLineReader::bytes);

  private boolean afterReturn; // a line feed belongs to the line before
  private boolean ended;

  ClientLineReader(ClientInput in, int longest) {
    super(in, longest);
  }

  @Override
  String read() throws IOException {
    ByteArrayOutputStream begun = null; // in earlier buffers
    while (!ended) {
      if (in.at == in.end && !in.fill()) ended = true;
      else if (afterReturn && in.buffer[in.at] == '\n') in.at++;
      else {
        int to = lineEnd();
        checkLength((begun == null ? 0 : begun.size()) + (to - in.at));
        if (to < in.end) return taken(begun, to);
        if (begun == null) begun = new ByteArrayOutputStream(Math.min(maxLength, 2 * (to - in.at)));
        begun.write(in.buffer, in.at, to - in.at);
        in.at = to;
      }
      afterReturn = false;
    }
    return begun == null ? null : begun.toString(StandardCharsets.UTF_8);
  }

  private record ClientLine(String text) {
    @Override
    public String toString() {
      return "line '" + text + "'";
    }
  }

  @Override
  Object describe(String line) {
    return new ClientLine(line);
  }

  private int lineEnd() {
    int to = in.at;
    while (to < in.end && in.buffer[to] != '\n' && in.buffer[to] != '\r') to++;
    return to;
  }

  private void checkLength(int length) throws IOException {
    if (length > maxLength) throw in.socket.asClientError(new ProtocolException(
        in.socket + " sent a line longer than " + maxLength + " bytes; withMaxFrame allows more"));
  }

  private String taken(ByteArrayOutputStream begun, int to) {
    afterReturn = in.buffer[to] == '\r';
    if (begun != null) begun.write(in.buffer, in.at, to - in.at);
    var line = begun != null ? begun.toString(StandardCharsets.UTF_8)
        : new String(in.buffer, in.at, to - in.at, StandardCharsets.UTF_8);
    in.at = to + 1;
    return line;
  }

  private static int size(String line) {
    long size = 1;
    for (int i = 0; i < line.length(); i++) {
      char one = line.charAt(i);
      if (one == '\n' || one == '\r')
        throw new IllegalArgumentException("a line with a line end inside would be two lines; send two");
      // a pair of surrogates is four bytes, a single one a question mark
      size += one < 0x80 ? 1 : one < 0x800 ? 2 : Character.isSurrogate(one) ? 2 : 3;
    }
    return (int) Math.min(Integer.MAX_VALUE, size);
  }

  private static byte[] bytes(String line) {
    return (line + '\n').getBytes(StandardCharsets.UTF_8);
  }
}
