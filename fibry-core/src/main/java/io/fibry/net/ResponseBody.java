package io.fibry.net;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * The body of an answer as the handler writes it. One that fits into the buffer is sent at the end,
 * with its length; a longer or flushed one goes out in chunks. A Content-Length cannot be exceeded;
 * if it is not reached, the connection is closed. Belongs to the thread of its exchange.
 */
final class ResponseBody extends OutputStream {

  /** How the end of a body is marked. */
  enum Framing { LENGTH, CHUNKS, CLOSE, NONE }

  /** Sends the body, after its head. */
  interface BodySender {
    /** Called once. -1: the length is unknown. */
    Framing framing(long length);

    /** Returns the head as a buffer to which the body can be added. */
    ByteBuilder head(Framing framing, long length);

    void write(byte[] bytes, int length) throws IOException;

    /** Returns false if the Content-Length was not reached. */
    void complete(boolean whole);
  }

  private static final int SIZE = 8_192;
  private static final int BEFORE = 6; // for the size of a chunk: four digits and CR LF
  private static final byte[] LAST_CHUNK = ByteBuilder.latin("0\r\n\r\n");

  private final BodySender sender;
  private final long length; // set by the handler; -1 means not set
  private final byte[] buffer = new byte[BEFORE + SIZE + 2 + LAST_CHUNK.length];
  private int filled;
  private long written; // with `filled`
  private Framing framing; // null if no body is sent
  private boolean closed;

  ResponseBody(BodySender sender, long length) {
    this.sender = sender;
    this.length = length;
  }

  @Override
  public void write(int b) throws IOException {
    check(1);
    if (filled == SIZE) send(false);
    buffer[BEFORE + filled++] = (byte) b;
    written++;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, bytes.length);
    check(count);
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

  private void check(int more) throws IOException {
    if (closed) throw new IOException("the answer is complete; nothing can be added");
    if (length >= 0 && more > length - written) throw new IOException("the answer has a Content-Length of " + length
        + " bytes, but " + (written + more) + " are written; set the right length, or none");
  }

  @Override
  public void flush() throws IOException {
    if (!closed && (filled > 0 || framing == null)) send(false);
  }

  /** Sends the buffer, with the head before it, or the end after it. */
  private void send(boolean last) throws IOException {
    ByteBuilder head = null;
    if (framing == null) {
      long known = last ? written : -1;
      framing = sender.framing(known);
      head = sender.head(framing, length >= 0 ? length : known);
    }
    int from = BEFORE;
    int to = BEFORE + filled;
    filled = 0;
    if (framing == Framing.NONE) to = from;
    else if (framing == Framing.CHUNKS) {
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

  @Override
  public void close() throws IOException {
    if (closed) return;
    closed = true;
    if (framing == null || framing == Framing.CHUNKS || filled > 0) send(true);
    sender.complete(length < 0 || written >= length || framing != Framing.LENGTH);
  }

  void forbid() {
    closed = true;
  }
}
