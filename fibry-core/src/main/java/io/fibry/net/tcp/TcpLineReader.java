package io.fibry.net.tcp;

import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;

/** Reads the lines that a client sends. */
final class TcpLineReader extends ClientReader<String> {
  static final ClientOutbox.MessageFormat<String> FORMAT =
      new ClientOutbox.MessageFormat<>(TcpLineReader::size, TcpLineReader::encode);

  // whether the last line ended with a carriage return; a line feed that follows belongs to the
  // same line end
  private boolean isAfterReturn;
  private boolean hasEnded;

  TcpLineReader(ClientInput in, int maxLength) {
    super(in, maxLength);
  }

  @Override
  protected String read() throws IOException {
    // the part of the line from earlier buffers; null if there is none
    ByteArrayOutputStream lineStart = null;
    while (!hasEnded) {
      if (in.position == in.end && !in.fill()) hasEnded = true;
      else if (isAfterReturn && in.buffer[in.position] == '\n') in.position++;
      else {
        int textEnd = findLineEndOrBufferEnd();
        checkLength((lineStart == null ? 0 : lineStart.size()) + (textEnd - in.position));
        if (textEnd < in.end) return takeLine(lineStart, textEnd);
        if (lineStart == null) lineStart = new ByteArrayOutputStream(Math.min(maxLength, 2 * (textEnd - in.position)));
        lineStart.write(in.buffer, in.position, textEnd - in.position);
        in.position = textEnd;
      }
      isAfterReturn = false;
    }
    return lineStart == null ? null : lineStart.toString(StandardCharsets.UTF_8);
  }

  private record ClientLine(String text) {
    @Override
    public String toString() {
      return "line '" + text + "'";
    }
  }

  @Override
  protected Object describe(String line) {
    return new ClientLine(line);
  }

  private int findLineEndOrBufferEnd() {
    int index = in.position;
    while (index < in.end && in.buffer[index] != '\n' && in.buffer[index] != '\r') index++;
    return index;
  }

  private void checkLength(int length) throws IOException {
    if (length > maxLength) throw in.socket.asClientError(new ProtocolException(
        in.socket + " sent a line longer than " + maxLength + " bytes; withMaxFrame allows more"));
  }

  private String takeLine(ByteArrayOutputStream lineStart, int textEnd) {
    isAfterReturn = in.buffer[textEnd] == '\r';
    if (lineStart != null) lineStart.write(in.buffer, in.position, textEnd - in.position);
    var line = lineStart != null ? lineStart.toString(StandardCharsets.UTF_8)
        : new String(in.buffer, in.position, textEnd - in.position, StandardCharsets.UTF_8);
    in.position = textEnd + 1;
    return line;
  }

  private static int size(String line) {
    long size = 1;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '\n' || c == '\r')
        throw new IllegalArgumentException("a line with a line end inside would be two lines; send two");
      // a pair of surrogates takes four bytes; an unpaired surrogate is written as a question mark
      size += c < 0x80 ? 1 : c < 0x800 ? 2 : Character.isSurrogate(c) ? 2 : 3;
    }
    return (int) Math.min(Integer.MAX_VALUE, size);
  }

  private static byte[] encode(String line) {
    return (line + '\n').getBytes(StandardCharsets.UTF_8);
  }
}
