package io.fibry.net.socket;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * The bytes that a client sends, buffered. The buffer is small until the client fills it, because
 * thousands of connections may be idle. Used by one thread.
 */
public final class ClientInput extends InputStream {
  static final int SMALL_BUFFER = 1024; // bytes of the buffer of a connection that receives little
  public static final int LARGE_BUFFER = 8 * 1024; // bytes of the buffer after the small buffer was full
  // number of short reads in a row after which a small buffer replaces the large buffer
  private static final int MAX_SHORT_READS = 4;
  private static final int MAX_READS_PAST_END = 1_000; // number of reads that return -1, before a read throws

  public final ClientSocket socket;
  // the permit of the current exchange, suspended during each read from the socket; null outside of
  // HTTP exchanges
  public ExchangePermit permit;
  public byte[] buffer; // null before the first read
  public int position; // index of the next byte
  public int end; // index after the last byte
  private int shortReads;
  private boolean hasEnded;
  private int readsPastEnd;

  public ClientInput(ClientSocket socket) {
    this.socket = socket;
  }

  @Override
  public int read() throws IOException {
    if (position < end) return buffer[position++] & 0xff;
    return fill() ? buffer[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) return 0;
    if (position == end) {
      if (length >= LARGE_BUFFER) return readDirectly(bytes, offset, length);
      if (!fill()) return -1;
    }
    int count = Math.min(length, end - position);
    System.arraycopy(buffer, position, bytes, offset, count);
    position += count;
    return count;
  }

  private int readDirectly(byte[] bytes, int offset, int length) throws IOException {
    int count = hasEnded ? -1 : readSocket(bytes, offset, length);
    return count >= 0 ? count : countReadPastEnd();
  }

  private int readSocket(byte[] bytes, int offset, int length) throws IOException {
    var currentPermit = permit;
    if (currentPermit == null) {
      socket.beginInputWait();
      try {
        return socket.read(bytes, offset, length);
      } finally {
        socket.step.inputWait.end();
      }
    }
    currentPermit.suspend();
    try {
      return socket.read(bytes, offset, length);
    } finally {
      currentPermit.resume();
    }
  }

  /** Waits for at least one byte. Returns false at the end of the stream. */
  public boolean fill() throws IOException {
    if (hasEnded) return countReadPastEnd() >= 0;
    if (buffer == null || buffer.length > SMALL_BUFFER && shortReads >= MAX_SHORT_READS)
      buffer = new byte[SMALL_BUFFER];
    else if (buffer.length == SMALL_BUFFER && end == SMALL_BUFFER) buffer = new byte[LARGE_BUFFER];
    position = 0;
    end = 0;
    int count = readSocket(buffer, 0, buffer.length);
    if (count < 0) return countReadPastEnd() >= 0;
    end = count;
    shortReads = count < SMALL_BUFFER ? shortReads + 1 : 0;
    return true;
  }

  /** Returns -1. Throws after 1,000 calls, to end the loop of a handler that ignores -1. */
  private int countReadPastEnd() throws EOFException {
    hasEnded = true;
    if (++readsPastEnd > MAX_READS_PAST_END)
      throw new EOFException(socket + " has ended its stream, and its handler has read past the end "
          + MAX_READS_PAST_END + " times; stop when read() returns -1");
    return -1;
  }

  /** Releases the buffer; unread bytes are lost. */
  public void releaseBuffer() {
    buffer = null;
    position = 0;
    end = 0;
  }

  @Override
  public int available() throws IOException {
    if (hasEnded) return end - position;
    try {
      return end - position + socket.notices.available();
    } catch (IOException failure) {
      throw socket.asClientError(failure);
    }
  }

  public boolean hasUnread() throws IOException {
    return position < end || !hasEnded && socket.notices.hasUnread();
  }

  @Override
  public void close() {
    position = end;
    socket.close();
  }

  @Override
  public String toString() {
    return "the input from " + socket;
  }
}
