package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;

/** The frames a client sends. Belongs to the reader's thread. */
final class ClientFrames implements Iterable<byte[]> {
  static final ClientOutbox.Format<byte[]> FORM = new ClientOutbox.Format<>() {
    @Override
    public int size(byte[] frame) {
      return (int) Math.min(Integer.MAX_VALUE, 4L + frame.length);
    }

    @Override
    public byte[] bytes(byte[] frame) {
      return ByteBuffer.allocate(4 + frame.length).putInt(frame.length).put(frame).array();
    }
  };

  private static final int AT_FIRST = ClientInput.LARGE;

  private final ClientInput in;
  private final int longest;
  private boolean ended;

  ClientFrames(ClientInput in, int longest) {
    this.in = in;
    this.longest = longest;
  }

  @Override
  public Iterator<byte[]> iterator() {
    return new ClientReader<>(this::next);
  }

  private byte[] next() throws IOException {
    if (ended) return null;
    int first = in.read();
    ended = first < 0;
    if (ended) return null;
    int length = first << 24 | within(in.read(), 4) << 16 | within(in.read(), 4) << 8 | within(in.read(), 4);
    if (length < 0 || length > longest)
      throw in.socket.lost(new ProtocolException(in.socket + " announced a frame of " + Integer.toUnsignedString(length)
          + " bytes, and " + longest + " are the most; withMaxFrame allows more"));
    return body(length);
  }

  /** The memory grows with what comes: a length alone costs nothing. */
  private byte[] body(int length) throws IOException {
    var frame = new byte[Math.min(length, AT_FIRST)];
    for (int have = 0; have < length;) {
      if (have == frame.length) frame = Arrays.copyOf(frame, (int) Math.min(length, 2L * have));
      have += within(in.read(frame, have, frame.length - have), length);
    }
    return frame;
  }

  private int within(int read, int length) throws IOException {
    if (read < 0) throw in.socket.lost(new EOFException(
        in.socket + " ended its stream within a frame" + (length == 4 ? "'s length" : " of " + length + " bytes")));
    return read;
  }
}
