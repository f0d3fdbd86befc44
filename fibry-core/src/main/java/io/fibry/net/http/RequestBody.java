package io.fibry.net.http;

import io.fibry.net.http.HttpStatus.RequestRefusedException;
import io.fibry.net.socket.ClientInput;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** The body of a request. Used by the thread of its exchange. */
public final class RequestBody extends InputStream {

  /** Sends 100 Continue to a client that waits for this response before it sends the body. */
  interface Expectation {
    /** Returns whether the client still waits for 100 Continue. */
    boolean needsContinue();

    void sendContinue() throws IOException;
  }

  // max unread bytes that are skipped, so that another request can follow
  private static final int MAX_UNREAD = 64 << 10;
  private static final int MAX_EXTENSIONS = 8 << 10; // max bytes of chunk extensions and trailers
  // max bytes of a chunk; the number could overflow while a greater size is read
  private static final long MAX_CHUNK = Long.MAX_VALUE >> 8;

  public final ClientInput in;
  public final HttpSettings settings;
  private final Expectation expectation;
  private final boolean isChunked;
  private boolean hasBegun; // whether the handler has begun to read
  private boolean isExchangeOver; // whether the exchange is over, so that the body cannot be read
  private boolean hasReadChunkHead; // whether a chunk has begun, so that CR LF comes before the next head
  private boolean isLastChunk; // whether no further chunk follows the current bytes
  private long remaining; // unread bytes of the body, or of the current chunk
  private long chunkAllowance; // bytes that further chunks may have
  private int extensionBytes; // bytes of chunk extensions and trailers so far
  private IOException failure; // thrown by each further read; null before a failure

  RequestBody(ClientInput in, RequestHead head, HttpSettings settings, Expectation expectation) {
    this.in = in;
    this.settings = settings;
    this.expectation = expectation;
    this.isChunked = head.bodyLength == RequestHead.CHUNKED;
    this.remaining = isChunked ? 0 : head.bodyLength;
    this.isLastChunk = !isChunked;
    this.chunkAllowance = settings.maxBody();
  }

  @Override
  public int read() throws IOException {
    if (!hasMore()) return -1;
    return countByte(receive(null, 0, 1));
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) return 0;
    if (!hasMore()) return -1;
    int count = receive(target, offset, (int) Math.min(length, remaining));
    countByte(count);
    remaining -= count - 1;
    return count;
  }

  /** Counts one byte as read. Throws if {@code readResult} is -1, the end of the stream. */
  private int countByte(int readResult) throws RequestRefusedException {
    if (readResult < 0) throw fail(new RequestRefusedException(400, "the stream ended within the body"));
    remaining--;
    return readResult;
  }

  /**
   * Reads one byte if {@code target} is null; otherwise reads up to {@code maxLength} bytes into
   * this array.
   */
  private int receive(byte[] target, int offset, int maxLength) throws IOException {
    try {
      return target == null ? in.read() : in.read(target, offset, maxLength);
    } catch (IOException disconnected) {
      throw fail(disconnected);
    } catch (Error error) { // bytes may be lost, so the handler must get no later bytes
      fail(new IOException("reading the body broke off: " + Lines.thrown(error)));
      throw error;
    }
  }

  private <E extends IOException> E fail(E failure) {
    this.failure = failure;
    return failure;
  }

  @Override
  public int available() throws IOException {
    return isExchangeOver || failure != null ? 0 : (int) Math.min(remaining, in.available());
  }

  /** Returns whether the body has another byte, which may not have arrived yet. */
  private boolean hasMore() throws IOException {
    if (failure != null) throw failure;
    if (isExchangeOver) throw new IOException("the exchange is over; read its body in the handler");
    if (remaining > 0 && hasBegun) return true;
    if (isFullyRead()) return false;
    try {
      if (!hasBegun) begin();
      if (remaining == 0) readChunkHead();
    } catch (IOException malformed) {
      throw fail(malformed);
    }
    return remaining > 0;
  }

  private void begin() throws IOException {
    hasBegun = true;
    in.socket.limitAllReads(settings.bodyLimit());
    expectation.sendContinue();
  }

  private void readChunkHead() throws IOException {
    if (hasReadChunkHead) requireLineEnd(next());
    long size = 0;
    int digits = 0;
    int c;
    for (c = next(); Character.digit(c, 16) >= 0; c = next(), digits++) {
      size = size << 4 | Character.digit(c, 16);
      if (size > MAX_CHUNK || digits > 16) throw new RequestRefusedException(400, "a chunk that is too long");
    }
    if (digits == 0) throw new RequestRefusedException(400, "a chunk without a size");
    if (c == ';' || c == ' ' || c == '\t') c = skipExtensions(c);
    requireLineEnd(c);
    if (size > chunkAllowance)
      throw new RequestRefusedException(413, "a body of more than " + settings.maxBody() + " bytes");
    chunkAllowance -= size;
    remaining = size;
    hasReadChunkHead = true;
    if (size > 0) return;
    isLastChunk = true;
    for (c = next(); c != '\r'; c = next()) skipTrailer(c);
    requireLineEnd(c);
  }

  /**
   * Skips the extensions of a chunk (RFC 9112, 7.1.1), such as {@code ;name} and
   * {@code ;name=value}. Returns the character after the extensions.
   */
  private int skipExtensions(int c) throws IOException {
    for (boolean isAfterName = false; c != '\r';) {
      c = skipSpace(c);
      if (c != ';' && !(c == '=' && isAfterName))
        throw new RequestRefusedException(400, "characters after the size of a chunk that are no extension");
      isAfterName = c == ';';
      c = skipSpace(countExtensionByte(next()));
      c = c == '"' && !isAfterName ? skipQuotation() : skipToken(c, "chunk extension");
    }
    return c;
  }

  private int skipSpace(int c) throws IOException {
    while (c == ' ' || c == '\t') c = countExtensionByte(next());
    return c;
  }

  private int skipQuotation() throws IOException {
    for (int c = countExtensionByte(next()); c != '"'; c = countExtensionByte(next())) {
      if (c == '\\') c = countExtensionByte(next());
      if (c == '\r') throw new RequestRefusedException(400, "a chunk extension whose quotation does not end");
    }
    return countExtensionByte(next());
  }

  private int skipToken(int c, String kind) throws IOException {
    if (!RequestHead.isToken(c))
      throw new RequestRefusedException(400, "a " + kind + " without a name, or without a value");
    while (RequestHead.isToken(c)) c = countExtensionByte(next());
    return c;
  }

  private void skipTrailer(int c) throws IOException {
    c = skipToken(c, "trailer");
    if (c != ':') throw new RequestRefusedException(400, "a character that the name of a trailer cannot have");
    while (c != '\r') c = countExtensionByte(next());
    requireLineEnd(c);
  }

  /** Counts, checks and returns a byte of a chunk extension or trailer. */
  private int countExtensionByte(int c) throws RequestRefusedException {
    if (++extensionBytes > MAX_EXTENSIONS)
      throw new RequestRefusedException(400, "too many bytes of chunk extensions and trailers");
    if (c < 0x20 && c != '\t' && c != '\r' || c == 0x7f)
      throw new RequestRefusedException(400, "a control character in a chunk extension or trailer");
    return c;
  }

  private void requireLineEnd(int c) throws IOException {
    if (c != '\r' || next() != '\n')
      throw new RequestRefusedException(400, "a chunk or line that does not end with CR LF");
  }

  private int next() throws IOException {
    int c = in.read();
    if (c < 0) throw new RequestRefusedException(400, "the stream ended within the body");
    return c;
  }

  IOException failure() {
    return failure;
  }

  boolean isFullyRead() {
    return remaining == 0 && isLastChunk;
  }

  /**
   * Returns whether another request may follow on this connection, as far as is known before the
   * rest of the body is read.
   */
  boolean mayRequestFollow() {
    return failure == null && !in.socket.shutdown.hasBegun()
        && (isFullyRead() || remaining <= MAX_UNREAD && !expectation.needsContinue());
  }

  /**
   * Skips the rest of the body. Returns false if no other request may follow on this connection.
   */
  boolean readRest() throws IOException {
    if (!mayRequestFollow()) return false;
    if (!isFullyRead()) {
      var ignored = new byte[4_096];
      for (int count, total = 0; (count = read(ignored, 0, ignored.length)) >= 0;)
        if ((total += count) > MAX_UNREAD) return false;
    }
    isExchangeOver = true;
    return true;
  }

  /** Makes all further reads fail. */
  void forbidReading() {
    isExchangeOver = true;
  }
}
