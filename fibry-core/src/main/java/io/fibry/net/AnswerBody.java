package io.fibry.net;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * The body of an answer as the handler writes it. What fits into the buffer is sent at the end,
 * with its length; what is more, or is flushed before, goes out in chunks. A length that the
 * handler told is kept: to write more is refused, and after less the connection is closed, so that
 * the client sees it. Belongs to the thread of its exchange.
 */
final class AnswerBody extends OutputStream {

  /** How the end of a body is told. */
  enum End { LENGTH, CHUNKS, CLOSE, NONE }

  /** What sends it, with the head before it. */
  interface Sender {
    /**
     * How the end has to be told, when the first of it is sent. All it will ever send, or -1:
     * nobody knows.
     */
    End end(long all);

    /** Status and headers, to which the beginning of the body can be added. */
    ByteBuilder head(End end, long length);

    void write(byte[] bytes, int length) throws IOException;

    /** Nothing more comes; whether it was all that was told. */
    void complete(boolean all);
  }

  private static final int SIZE = 8_192;
  // room for the size of a chunk: four digits and the end of the line
  private static final int BEFORE = 6;
  private static final byte[] LAST_CHUNK = ByteBuilder.latin("0\r\n\r\n");

  private final Sender sender;
  private final long length; // as the handler said; -1: it did not
  private final byte[] buffer = new byte[BEFORE + SIZE + 2 + LAST_CHUNK.length];
  private int filled; // bytes in the buffer
  private long written; // of the body, those in the buffer too
  private End end; // null: nothing was sent yet
  private boolean closed;

  AnswerBody(Sender sender, long length) {
    this.sender = sender;
    this.length = length;
  }

  @Override
  public void write(int b) throws IOException {
    refuse(1);
    if (filled == SIZE) send(false);
    buffer[BEFORE + filled++] = (byte) b;
    written++;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, bytes.length);
    refuse(count);
    written += count;
    while (count > 0) {
      if (filled == SIZE) send(false);
      int some = Math.min(count, SIZE - filled);
      System.arraycopy(bytes, offset, buffer, BEFORE + filled, some);
      filled += some;
      offset += some;
      count -= some;
    }
  }

  private void refuse(int more) throws IOException {
    if (closed) throw new IOException("the answer is complete; nothing can be added");
    if (length >= 0 && more > length - written)
      throw new IOException("the answer has a Content-Length of " + length + " bytes, and " + (written + more)
          + " are written; tell the right number");
  }

  @Override
  public void flush() throws IOException {
    if (!closed && (filled > 0 || end == null)) send(false);
  }

  /**
   * What is in the buffer, with the head before it if it is the first, and the end behind it if it
   * is the last.
   */
  private void send(boolean last) throws IOException {
    ByteBuilder head = null;
    if (end == null) {
      end = sender.end(last ? written : -1);
      head = sender.head(end, length >= 0 ? length : last ? written : -1);
    }
    int from = BEFORE;
    int to = BEFORE + filled;
    filled = 0;
    if (end == End.NONE) to = from;
    else if (end == End.CHUNKS) {
      if (to > from) {
        var size = Integer.toHexString(to - from);
        buffer[to++] = '\r';
        buffer[to++] = '\n';
        buffer[--from] = '\n';
        buffer[--from] = '\r';
        for (int i = size.length() - 1; i >= 0; i--) buffer[--from] = (byte) size.charAt(i);
      }
      if (last) {
        System.arraycopy(LAST_CHUNK, 0, buffer, to, LAST_CHUNK.length);
        to += LAST_CHUNK.length;
      }
    }
    if (head == null) {
      if (from > 0) System.arraycopy(buffer, from, buffer, 0, to - from);
      if (to > from) sender.write(buffer, to - from);
    } else {
      head.add(buffer, from, to - from);
      sender.write(head.bytes, head.length);
    }
  }

  /** The body is complete. */
  @Override
  public void close() throws IOException {
    if (closed) return;
    closed = true;
    if (end == null || end == End.CHUNKS || filled > 0) send(true);
    // the client misses the rest
    sender.complete(length < 0 || written >= length || end != End.LENGTH);
  }

  /** From here on nothing can be added: the handler failed, or kept it. */
  void cut() {
    closed = true;
  }
}
