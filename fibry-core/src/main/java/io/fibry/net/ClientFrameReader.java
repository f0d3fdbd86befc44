package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The frames a client sends. */
final class ClientFrameReader extends ClientReader<byte[]> {
  static final ClientOutbox.LineFormat<byte[]> FORMAT =
      new ClientOutbox.LineFormat<>(ClientFrameReader::size, ClientFrameReader::bytes);

  private boolean ended;

  ClientFrameReader(ClientInput in, int longest) {
    super(in, longest);
  }

  @Override
  byte[] read() throws IOException {
    int first = ended ? -1 : in.read();
    ended = first < 0;
    if (ended) return null;
    int length = first << 24 | within(in.read(), 4) << 16 | within(in.read(), 4) << 8 | within(in.read(), 4);
    if (length < 0 || length > maxLength)
      throw in.socket.asClientError(new ProtocolException(in.socket + " announced a frame of "
          + Integer.toUnsignedString(length) + " bytes, longer than " + maxLength + "; withMaxFrame allows more"));
    return body(length);
  }

  private record ClientFrame(int length) {
    @Override
    public String toString() {
      return "a frame of " + length + " bytes";
    }
  }

  @Override
  Object describe(byte[] frame) {
    return new ClientFrame(frame.length);
  }

  /** Takes at most twice the memory of what has come: a length alone costs nothing. */
  private byte[] body(int length) throws IOException {
    var frame = new byte[Math.min(length, ClientInput.LARGE)];
    for (int have = 0; have < length;) {
      if (have == frame.length) frame = Arrays.copyOf(frame, (int) Math.min(length, 2L * have));
      have += within(in.read(frame, have, frame.length - have), length);
    }
    return frame;
  }

  private int within(int read, int length) throws IOException {
    if (read < 0) throw in.socket.asClientError(new EOFException(
        in.socket + " ended its stream within a frame" + (length == 4 ? "'s length" : " of " + length + " bytes")));
    return read;
  }

  private static int size(byte[] frame) {
    return (int) Math.min(Integer.MAX_VALUE, 4L + frame.length);
  }

  private static byte[] bytes(byte[] frame) {
    return ByteBuffer.allocate(4 + frame.length).putInt(frame.length).put(frame).array();
  }
}
