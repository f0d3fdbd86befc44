package io.fibry.net.tcp;

import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientReader;
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
  protected byte[] read() throws IOException {
    int firstByte = hasEnded ? -1 : in.read();
    hasEnded = firstByte < 0;
    if (hasEnded) return null;
    int length = firstByte << 24 | nextByteOfLength() << 16 | nextByteOfLength() << 8 | nextByteOfLength();
    if (length < 0 || length > maxLength)
      throw in.socket.asClientError(new ProtocolException(in.socket + " announced a frame of "
          + Integer.toUnsignedString(length) + " bytes, longer than " + maxLength + "; withMaxFrame allows more"));
    return readContent(length);
  }

  private int nextByteOfLength() throws IOException {
    int next = in.read();
    if (next < 0) throw endedWithin("a frame's length");
    return next;
  }

  private IOException endedWithin(String part) {
    return in.socket.asClientError(new EOFException(in.socket + " ended its stream within " + part));
  }

  private record ClientFrame(int length) {
    @Override
    public String toString() {
      return "a frame of " + length + " bytes";
    }
  }

  @Override
  protected Object describe(byte[] frame) {
    return new ClientFrame(frame.length);
  }

  /**
   * Reads the content of a frame. Above 8 KiB, the array grows only with the received bytes, so an
   * announced length alone takes at most 8 KiB of memory.
   */
  private byte[] readContent(int length) throws IOException {
    var frame = new byte[Math.min(length, ClientInput.LARGE_BUFFER)];
    for (int received = 0; received < length;) {
      if (received == frame.length) frame = Arrays.copyOf(frame, (int) Math.min(length, 2L * received));
      int count = in.read(frame, received, frame.length - received);
      if (count < 0) throw endedWithin(new ClientFrame(length).toString());
      received += count;
    }
    return frame;
  }

  private static int size(byte[] frame) {
    return (int) Math.min(Integer.MAX_VALUE, 4L + frame.length);
  }

  private static byte[] encode(byte[] frame) {
    return ByteBuffer.allocate(4 + frame.length).putInt(frame.length).put(frame).array();
  }
}
