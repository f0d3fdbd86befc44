package io.fibry.net.http;

import io.fibry.net.socket.ByteBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * The body of a response, to which a handler writes. A body that fits into the buffer is sent at
 * the end, with its length. A longer or flushed body is sent in parts. If its length is not set,
 * these parts are chunks. HTTP/1.0 has no chunks, so with HTTP/1.0 the close of the connection ends
 * the body. A handler cannot write more bytes than the Content-Length that it has set; if it writes
 * fewer, the connection is closed. Used by the thread of its exchange.
 */
final class ResponseBody extends OutputStream {

  /** How the end of a body is marked. NONE means that there is no body. */
  enum Framing { LENGTH, CHUNKS, CLOSE, NONE }

  /** Sends the body, after its head. */
  interface BodySender {
    /** Chooses the framing; called once. The length is -1 if it is not known yet. */
    Framing chooseFraming(long length);

    /** Returns the head as a buffer to which the body can be added. */
    ByteBuilder head(Framing framing, long length);

    void write(byte[] bytes, int length) throws IOException;

    /**
     * Called at the end. {@code isWhole} is false if fewer bytes were sent than the Content-Length.
     */
    void complete(boolean isWhole);
  }

  private static final int BUFFER_SIZE = 8_192;
  private static final int CHUNK_HEAD = 6; // bytes for the size of a chunk: four digits and CR LF
  private static final byte[] LAST_CHUNK = ByteBuilder.latin1Bytes("0\r\n\r\n");

  private final BodySender sender;
  private final long contentLength; // set by the handler; -1 means not set
  private final byte[] buffer = new byte[CHUNK_HEAD + BUFFER_SIZE + 2 + LAST_CHUNK.length];
  private int bufferedBytes; // bytes of the body in the buffer
  private long writtenBytes; // bytes that the handler has written, including the bytes in the buffer
  private Framing framing; // null until the head is sent
  private boolean isClosed;

  ResponseBody(BodySender sender, long contentLength) {
    this.sender = sender;
    this.contentLength = contentLength;
  }

  @Override
  public void write(int b) throws IOException {
    check(1);
    if (bufferedBytes == BUFFER_SIZE) send(false);
    buffer[CHUNK_HEAD + bufferedBytes++] = (byte) b;
    writtenBytes++;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, bytes.length);
    check(count);
    writtenBytes += count;
    while (count > 0) {
      if (bufferedBytes == BUFFER_SIZE) send(false);
      int copyLength = Math.min(count, BUFFER_SIZE - bufferedBytes);
      System.arraycopy(bytes, offset, buffer, CHUNK_HEAD + bufferedBytes, copyLength);
      bufferedBytes += copyLength;
      offset += copyLength;
      count -= copyLength;
    }
  }

  private void check(int count) throws IOException {
    if (isClosed) throw new IOException("the response is complete; nothing can be added");
    if (contentLength >= 0 && count > contentLength - writtenBytes)
      throw new IOException("the response has a Content-Length of " + contentLength + " bytes, but "
          + (writtenBytes + count) + " are written; set the right length, or none");
  }

  @Override
  public void flush() throws IOException {
    if (!isClosed && (bufferedBytes > 0 || framing == null)) send(false);
  }

  /**
   * Sends the buffer. The first call sends the head before the buffer, and the last call sends the
   * end mark after it.
   */
  private void send(boolean isLast) throws IOException {
    ByteBuilder head = null;
    if (framing == null) {
      long knownLength = isLast ? writtenBytes : -1;
      framing = sender.chooseFraming(knownLength);
      head = sender.head(framing, contentLength >= 0 ? contentLength : knownLength);
    }
    int start = CHUNK_HEAD;
    int end = CHUNK_HEAD + bufferedBytes;
    bufferedBytes = 0;
    if (framing == Framing.NONE) end = start;
    else if (framing == Framing.CHUNKS) {
      if (end > start) {
        var size = Integer.toHexString(end - start);
        buffer[end++] = '\r';
        buffer[end++] = '\n';
        buffer[--start] = '\n';
        buffer[--start] = '\r';
        for (int i = size.length() - 1; i >= 0; i--) buffer[--start] = (byte) size.charAt(i);
      }
      if (isLast) {
        System.arraycopy(LAST_CHUNK, 0, buffer, end, LAST_CHUNK.length);
        end += LAST_CHUNK.length;
      }
    }
    if (head == null) {
      if (start > 0) System.arraycopy(buffer, start, buffer, 0, end - start);
      if (end > start) sender.write(buffer, end - start);
    } else {
      head.add(buffer, start, end - start);
      sender.write(head.bytes, head.length);
    }
  }

  @Override
  public void close() throws IOException {
    if (isClosed) return;
    isClosed = true;
    if (framing == null || framing == Framing.CHUNKS || bufferedBytes > 0) send(true);
    sender.complete(contentLength < 0 || writtenBytes >= contentLength || framing != Framing.LENGTH);
  }

  /** Makes all further writes fail. A later {@link #close} then does nothing. */
  void forbidWriting() {
    isClosed = true;
  }
}
