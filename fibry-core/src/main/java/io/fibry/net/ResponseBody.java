package io.fibry.net;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * The body of a response, to which a handler writes. A body that fits into the buffer is sent at
 * the end, with its length. A longer or flushed body is sent in chunks. A Content-Length cannot be
 * exceeded; if it is not reached, the connection is closed. Used by the thread of its exchange.
 */
final class ResponseBody extends OutputStream {

  /** How the end of a body is marked. */
  enum Framing { LENGTH, CHUNKS, CLOSE, NONE }

  /** Sends the body, after its head. */
  interface BodySender {
    /** Chooses the framing; called once. The length is -1 if it is not known yet. */
    Framing framing(long length);

    /** Returns the head as a buffer to which the body can be added. */
    ByteBuilder head(Framing framing, long length);

    void write(byte[] bytes, int length) throws IOException;

    /** Called at the end. The parameter is false if the Content-Length was not reached. */
    void complete(boolean isWhole);
  }

  private static final int BUFFER_SIZE = 8_192;
  private static final int CHUNK_HEAD = 6; // bytes for the size of a chunk: four digits and CR LF
  private static final byte[] LAST_CHUNK = ByteBuilder.latin1Bytes("0\r\n\r\n");

  private final BodySender sender;
  private final long length; // set by the handler; -1 means not set
  private final byte[] buffer = new byte[CHUNK_HEAD + BUFFER_SIZE + 2 + LAST_CHUNK.length];
  private int buffered; // bytes of the body in the buffer
  private long written; // bytes, including those in the buffer
  private Framing framing; // null until the head is sent
  private boolean closed;

  ResponseBody(BodySender sender, long length) {
    this.sender = sender;
    this.length = length;
  }

  @Override
  public void write(int b) throws IOException {
    check(1);
    if (buffered == BUFFER_SIZE) send(false);
    buffer[CHUNK_HEAD + buffered++] = (byte) b;
    written++;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, bytes.length);
    check(count);
    written += count;
    while (count > 0) {
      if (buffered == BUFFER_SIZE) send(false);
      int copied = Math.min(count, BUFFER_SIZE - buffered);
      System.arraycopy(bytes, offset, buffer, CHUNK_HEAD + buffered, copied);
      buffered += copied;
      offset += copied;
      count -= copied;
    }
  }

  private void check(int count) throws IOException {
    if (closed) throw new IOException("the response is complete; nothing can be added");
    if (length >= 0 && count > length - written) throw new IOException("the response has a Content-Length of " + length
        + " bytes, but " + (written + count) + " are written; set the right length, or none");
  }

  @Override
  public void flush() throws IOException {
    if (!closed && (buffered > 0 || framing == null)) send(false);
  }

  /** Sends the buffer: the first time after the head, the last time before the end mark. */
  private void send(boolean isLast) throws IOException {
    ByteBuilder head = null;
    if (framing == null) {
      long knownLength = isLast ? written : -1;
      framing = sender.framing(knownLength);
      head = sender.head(framing, length >= 0 ? length : knownLength);
    }
    int from = CHUNK_HEAD;
    int to = CHUNK_HEAD + buffered;
    buffered = 0;
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
      if (isLast) {
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
    if (framing == null || framing == Framing.CHUNKS || buffered > 0) send(true);
    sender.complete(length < 0 || written >= length || framing != Framing.LENGTH);
  }

  /** Makes all further writes fail. */
  void forbidWriting() {
    closed = true;
  }
}
