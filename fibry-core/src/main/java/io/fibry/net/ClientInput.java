package io.fibry.net;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * What a client sends: a socket's stream with a buffer, so that who reads byte by byte does not
 * call the system for each. Belongs to one thread. The buffer is small until a client fills it at
 * once, and small again after a few short reads: thousands of clients may be waited for.
 */
final class ClientInput extends InputStream {
  static final int SMALL = 1024;
  static final int LARGE = 8 * 1024;
  private static final int SHORT_READS = 4; // so many let the buffer shrink
  private static final int TRIED = 1_000; // so often the end of the stream may be read

  final ClientSocket socket;
  ExchangePermit permit; // is given back while a read may wait; null, or left: none
  byte[] buffer; // null: not needed yet
  int at; // the next byte
  int end; // behind the last byte
  private int shortReads;
  private boolean ended;
  private int tried;

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
      if (length >= LARGE) return direct(bytes, offset, length);
      if (!fill()) return -1;
    }
    int some = Math.min(length, end - at);
    System.arraycopy(buffer, at, bytes, offset, some);
    at += some;
    return some;
  }

  private int direct(byte[] bytes, int offset, int length) throws IOException {
    if (ended) return pastEnd();
    int some = receive(bytes, offset, length);
    return some >= 0 ? some : pastEnd();
  }

  private int receive(byte[] bytes, int offset, int length) throws IOException {
    var given = permit;
    if (given == null) return socket.receive(bytes, offset, length);
    given.away();
    try {
      return socket.receive(bytes, offset, length);
    } finally {
      given.back();
    }
  }

  /** The buffer is empty: reads what has come, at least a byte. False at the end of the stream. */
  boolean fill() throws IOException {
    if (ended) return pastEnd() >= 0;
    if (buffer == null || buffer.length > SMALL && shortReads >= SHORT_READS) buffer = new byte[SMALL];
    else if (buffer.length == SMALL && end == SMALL) buffer = new byte[LARGE];
    at = 0;
    end = 0;
    int some = receive(buffer, 0, buffer.length);
    if (some < 0) return pastEnd() >= 0;
    end = some;
    shortReads = some < SMALL ? shortReads + 1 : 0;
    return true;
  }

  /** A loop that does not look for the end would never end, and hold its carrier: it is told. */
  private int pastEnd() throws EOFException {
    ended = true;
    if (++tried > TRIED)
      throw new EOFException(socket + " has ended its stream, and its handler has read past the end " + TRIED
          + " times; compare what read() answers with -1");
    return -1;
  }

  /** Nobody reads any more. */
  void drop() {
    buffer = null;
    at = 0;
    end = 0;
  }

  @Override
  public int available() throws IOException {
    return end - at + (ended ? 0 : socket.waiting());
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
