package io.fibry.net;

import io.fibry.net.HttpStatus.RequestRefusedException;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** The body of a request. Belongs to the thread of its exchange. */
final class RequestBody extends InputStream {

  /** The client may wait for 100 Continue before it sends. */
  interface Expectation {
    boolean needsContinue();

    void sendContinue() throws IOException;
  }

  private static final int MAX_UNREAD = 64 << 10; // read for the sake of the next request
  private static final int MAX_EXTENSIONS = 8 << 10; // bytes, with trailers
  private static final long MAX_CHUNK = Long.MAX_VALUE >> 8; // a longer one could overflow

  final ClientInput in;
  final HttpOptions options;
  private final Expectation expectation;
  private final boolean chunked;
  private boolean begun;
  private boolean ended; // whether the exchange is over; then the body cannot be read
  private boolean betweenChunks; // two chunks: a line end follows
  private boolean lastChunk;
  private long remaining; // of the body, or of this chunk
  private long room; // for further chunks
  private int extensions;
  private IOException failure; // the failure of each further read, or null

  RequestBody(ClientInput in, RequestHead head, HttpOptions options, Expectation expectation) {
    this.in = in;
    this.options = options;
    this.expectation = expectation;
    this.chunked = head.bodyLength == RequestHead.CHUNKED;
    this.remaining = chunked ? 0 : head.bodyLength;
    this.lastChunk = !chunked;
    this.room = options.maxBody;
  }

  @Override
  public int read() throws IOException {
    if (!hasMore()) return -1;
    return count(attempt(null, 0, 1));
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, to.length);
    if (length == 0) return 0;
    if (!hasMore()) return -1;
    int some = attempt(to, offset, (int) Math.min(length, remaining));
    count(some);
    remaining -= some - 1;
    return some;
  }

  private int count(int read) throws RequestRefusedException {
    if (read < 0) throw fail(new RequestRefusedException(400, "the body ended before its end"));
    remaining--;
    return read;
  }

  /** One byte, or some into an array. */
  private int attempt(byte[] to, int offset, int most) throws IOException {
    try {
      return to == null ? in.read() : in.read(to, offset, most);
    } catch (IOException gone) {
      throw fail(gone);
    } catch (Error half) { // bytes that were read may be lost, so the next must not pass for them
      fail(new IOException("reading the body broke off: " + Lines.thrown(half)));
      throw half;
    }
  }

  private <E extends IOException> E fail(E failure) {
    this.failure = failure;
    return failure;
  }

  @Override
  public int available() throws IOException {
    return ended || failure != null ? 0 : (int) Math.min(remaining, in.available());
  }

  /** Whether there is a byte, which may still have to come. */
  private boolean hasMore() throws IOException {
    if (failure != null) throw failure;
    if (ended) throw new IOException("the exchange is over; read its body in the handler");
    if (remaining > 0 && begun) return true;
    if (isRead()) return false;
    try {
      if (!begun) begin();
      if (remaining == 0) readChunkHead();
    } catch (IOException bad) {
      throw fail(bad);
    }
    return remaining > 0;
  }

  private void begin() throws IOException {
    begun = true;
    in.socket.limitAllReads(options.bodyLimit);
    expectation.sendContinue();
  }

  private void readChunkHead() throws IOException {
    if (betweenChunks) lineEnd(next());
    long size = 0;
    int digits = 0;
    int c;
    for (c = next(); Character.digit(c, 16) >= 0; c = next(), digits++) {
      size = size << 4 | Character.digit(c, 16);
      if (size > MAX_CHUNK || digits > 16) throw new RequestRefusedException(400, "a chunk that is too long");
    }
    if (digits == 0) throw new RequestRefusedException(400, "a chunk without a size");
    if (c == ';' || c == ' ' || c == '\t') c = skipExtensions(c);
    lineEnd(c);
    if (size > room) throw new RequestRefusedException(413, "a body of more than " + options.maxBody + " bytes");
    room -= size;
    remaining = size;
    betweenChunks = true;
    if (size > 0) return;
    lastChunk = true;
    for (c = next(); c != '\r'; c = next()) skipTrailer(c);
    lineEnd(c);
  }

  /** RFC 9112, 7.1.1: each is a name, or a name, "=" and a value. */
  private int skipExtensions(int c) throws IOException {
    for (boolean named = false; c != '\r';) {
      c = skipSpace(c);
      if (c != ';' && !(c == '=' && named))
        throw new RequestRefusedException(400, "no extension after the size of a chunk");
      named = c == ';';
      c = skipSpace(spend(next()));
      c = c == '"' && !named ? skipQuotation() : skipToken(c, "chunk extension");
    }
    return c;
  }

  private int skipSpace(int c) throws IOException {
    while (c == ' ' || c == '\t') c = spend(next());
    return c;
  }

  private int skipQuotation() throws IOException {
    for (int c = spend(next()); c != '"'; c = spend(next())) {
      if (c == '\\') c = spend(next());
      if (c == '\r') throw new RequestRefusedException(400, "a chunk extension whose quotation does not end");
    }
    return spend(next());
  }

  private int skipToken(int c, String what) throws IOException {
    if (!RequestHead.isToken(c))
      throw new RequestRefusedException(400, "a " + what + " without a name, or without a value");
    while (RequestHead.isToken(c)) c = spend(next());
    return c;
  }

  private void skipTrailer(int c) throws IOException {
    c = skipToken(c, "trailer");
    if (c != ':') throw new RequestRefusedException(400, "a character that the name of a trailer cannot have");
    while (c != '\r') c = spend(next());
    lineEnd(c);
  }

  private int spend(int c) throws RequestRefusedException {
    if (++extensions > MAX_EXTENSIONS)
      throw new RequestRefusedException(400, "too many bytes of chunk extensions and trailers");
    if (c < 0x20 && c != '\t' && c != '\r' || c == 0x7f)
      throw new RequestRefusedException(400, "a control character in a chunk extension or trailer");
    return c;
  }

  private void lineEnd(int c) throws IOException {
    if (c != '\r' || next() != '\n') throw new RequestRefusedException(400, "a chunk that does not end with its line");
  }

  private int next() throws IOException {
    int c = in.read();
    if (c < 0) throw new RequestRefusedException(400, "the body ended before its end");
    return c;
  }

  IOException failure() {
    return failure;
  }

  boolean isRead() {
    return remaining == 0 && lastChunk;
  }

  /** Whether another request may follow, as far as is known. */
  boolean canEnd() {
    return failure == null && !in.socket.shutdown.hasBegun()
        && (isRead() || remaining <= MAX_UNREAD && !expectation.needsContinue());
  }

  /** Returns false if no other request may follow on this connection. */
  boolean readRest() throws IOException {
    if (!canEnd()) return false;
    if (!isRead()) {
      var ignored = new byte[4_096];
      for (int some, all = 0; (some = read(ignored, 0, ignored.length)) >= 0;)
        if ((all += some) > MAX_UNREAD) return false;
    }
    ended = true;
    return true;
  }

  void forbid() {
    ended = true;
  }
}
