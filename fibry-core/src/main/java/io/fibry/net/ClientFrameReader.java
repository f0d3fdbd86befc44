package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Reads the frames that a client sends: four bytes with the length, the highest byte first, then
 * the content.
 */
final class ClientFrameReader extends ClientReader<byte[]> {
  static final ClientOutbox.MessageFormat<byte[]> FORMAT =
      new ClientOutbox.MessageFormat<>(ClientFrameReader::size, ClientFrameReader::encode);

  private boolean hasEnded;

  ClientFrameReader(ClientInput in, int maxLength) {
    super(in, maxLength);
  }

  @Override
  byte[] read() throws IOException {
    int firstByte = hasEnded ? -1 : in.read();
    hasEnded = firstByte < 0;
    if (hasEnded) return null;
    int length = firstByte << 24 | requireNotEnded(in.read(), 4) << 16 | requireNotEnded(in.read(), 4) << 8
        | requireNotEnded(in.read(), 4);
    if (length < 0 || length > maxLength)
      throw in.socket.asClientError(new ProtocolException(in.socket + " announced a frame of "
          + Integer.toUnsignedString(length) + " bytes, longer than " + maxLength + "; withMaxFrame allows more"));
    return readContent(length);
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

  /**
   * Reads the content of a frame. Above 8 kB, the array grows only with the received bytes, so an
   * announced length alone takes no memory.
   */
  private byte[] readContent(int length) throws IOException {
    var frame = new byte[Math.min(length, ClientInput.LARGE_BUFFER)];
    for (int received = 0; received < length;) {
      if (received == frame.length) frame = Arrays.copyOf(frame, (int) Math.min(length, 2L * received));
      received += requireNotEnded(in.read(frame, received, frame.length - received), length);
    }
    return frame;
  }

  /**
   * Returns the result of a read, but throws if the stream has ended.
   *
   * @param readResult a byte, a number of bytes, or -1 at the end of the stream
   * @param length bytes of the frame's content; 4 while the length is being read
   */
  private int requireNotEnded(int readResult, int length) throws IOException {
    if (readResult < 0) throw in.socket.asClientError(new EOFException(
        in.socket + " ended its stream within a frame" + (length == 4 ? "'s length" : " of " + length + " bytes")));
    return readResult;
  }

  private static int size(byte[] frame) {
    return (int) Math.min(Integer.MAX_VALUE, 4L + frame.length);
  }

  private static byte[] encode(byte[] frame) {
    return ByteBuffer.allocate(4 + frame.length).putInt(frame.length).put(frame).array();
  }
}
