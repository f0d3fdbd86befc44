package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * What a client sends, buffered. The buffer is small unless the client fills it: thousands of
 * connections may be idle. Belongs to one thread.
 */
final class ClientInput extends InputStream {
  static final int SMALL = 1024;
  static final int LARGE = 8 * 1024;
  private static final int SHORT_READS = 4; // after these the buffer shrinks
  private static final int READS_PAST_END = 1_000;

  final ClientSocket socket;
  ExchangePermit permit; // suspended while a read may wait; null without a permit
  byte[] buffer; // null: not needed yet
  int at; // the next byte
  int end; // after the last byte
  private int shortReads;
  private boolean ended;
  private int readsPastEnd;

  ClientInput(ClientSocket socket) {
    this.socket = socket;
  }

  @Override
  public int read() throws IOException {
    if (at < end) return buffer[at++] & 0xff;
    return fill() ? buffer[at++] & 0xff : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) return 0;
    if (at == end) {
      if (length >= LARGE) return readDirectly(bytes, offset, length);
      if (!fill()) return -1;
    }
    int some = Math.min(length, end - at);
    System.arraycopy(buffer, at, bytes, offset, some);
    at += some;
    return some;
  }

  private int readDirectly(byte[] bytes, int offset, int length) throws IOException {
    int some = ended ? -1 : readSocket(bytes, offset, length);
    return some >= 0 ? some : pastEnd();
  }

  private int readSocket(byte[] bytes, int offset, int length) throws IOException {
    var given = permit;
    if (given == null) return socket.read(bytes, offset, length);
    given.suspend();
    try {
      return socket.read(bytes, offset, length);
    } finally {
      given.resume();
    }
  }

  /** Waits for at least a byte. False at the end of the stream. */
  boolean fill() throws IOException {
    if (ended) return pastEnd() >= 0;
    if (buffer == null || buffer.length > SMALL && shortReads >= SHORT_READS) buffer = new byte[SMALL];
    else if (buffer.length == SMALL && end == SMALL) buffer = new byte[LARGE];
    at = 0;
    end = 0;
    int some = readSocket(buffer, 0, buffer.length);
    if (some < 0) return pastEnd() >= 0;
    end = some;
    shortReads = some < SMALL ? shortReads + 1 : 0;
    return true;
  }

  /** Ends a loop that ignores -1. */
  private int pastEnd() throws EOFException {
    ended = true;
    if (++readsPastEnd > READS_PAST_END)
      throw new EOFException(socket + " has ended its stream, and its handler has read past the end " + READS_PAST_END
          + " times; stop when read() returns -1");
    return -1;
  }

  void drop() {
    buffer = null;
    at = 0;
    end = 0;
  }

  @Override
  public int available() throws IOException {
    if (ended) return end - at;
    try {
      return end - at + socket.transport.available();
    } catch (IOException failure) {
      throw socket.asClientError(failure);
    }
  }

  boolean hasUnread() throws IOException {
    return at < end || !ended && socket.transport.hasUnread();
  }

  @Override
  public void close() {
    at = end;
    socket.close();
  }

  @Override
  public String toString() {
    return "what " + socket + " sends";
  }
}
