package io.fibry.net;

import io.fibry.net.HttpStatus.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * The body of a request, as a stream that ends where the body ends. Belongs to the thread of its
 * exchange.
 */
final class RequestBody extends InputStream {

  /** That the client is told to go on before it sends a body. */
  interface Expectation {
    boolean owesContinue();

    void sayContinue() throws IOException;
  }

  private static final int MOST_UNREAD = 64 << 10; // read away for the sake of the next request
  // bytes of chunk extensions and trailers, which nobody reads
  private static final int MOST_EXTENSIONS = 8 << 10;
  // a chunk as long as that is refused before the number overflows
  private static final long ENOUGH = Long.MAX_VALUE >> 8;

  private final ClientInput in;
  private final HttpOptions options;
  private final Expectation expectation; // asked to say 100 Continue
  private final boolean chunked;
  private boolean begun;
  private boolean over; // the exchange: what comes is the next request
  private boolean between; // two chunks: a line end comes first
  private boolean lastChunk;
  private long left; // of the body, or of this chunk
  private long room; // how many bytes more the server reads
  private int extensions;
  private IOException failure; // what once failed fails always

  RequestBody(ClientInput in, RequestHead head, HttpOptions options, Expectation expectation) {
    this.in = in;
    this.options = options;
    this.expectation = expectation;
    this.chunked = head.bodyLength == RequestHead.CHUNKED;
    this.left = chunked ? 0 : head.bodyLength;
    this.lastChunk = !chunked;
    this.room = options.maxBody;
  }

  @Override
  public int read() throws IOException {
    if (!more()) return -1;
    return count(attempt(null, 0, 1));
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, to.length);
    if (length == 0) return 0;
    if (!more()) return -1;
    int some = attempt(to, offset, (int) Math.min(length, left));
    count(some);
    left -= some - 1;
    return some;
  }

  private int count(int read) throws Refusal {
    if (read < 0) throw fail(new Refusal(400, "the body ended before its end"));
    left--;
    return read;
  }

  /** One byte, or as many as come, into an array. */
  private int attempt(byte[] to, int offset, int most) throws IOException {
    try {
      return to == null ? in.read() : in.read(to, offset, most);
    } catch (IOException gone) {
      throw fail(gone);
    }
  }

  private <E extends IOException> E fail(E failure) {
    this.failure = failure;
    return failure;
  }

  @Override
  public int available() throws IOException {
    return over || failure != null ? 0 : (int) Math.min(left, in.available());
  }

  /** Whether there is a byte more; it has yet to come. */
  private boolean more() throws IOException {
    if (failure != null) throw failure;
    if (over) throw new IOException("the exchange is over, and so is its body; read it in the handler");
    if (left > 0 && begun) return true;
    if (isRead()) return false;
    try {
      if (!begun) begin();
      if (left == 0) readChunkHead();
    } catch (IOException bad) {
      throw fail(bad);
    }
    return left > 0;
  }

  private void begin() throws IOException {
    begun = true;
    in.socket.readWithin(options.bodyLimit);
    expectation.sayContinue();
  }

  // ---- chunks

  private void readChunkHead() throws IOException {
    if (between) lineEnd(next());
    long size = 0;
    int digits = 0;
    int c;
    for (c = next(); Character.digit(c, 16) >= 0; c = next(), digits++) {
      size = size << 4 | Character.digit(c, 16);
      if (size > ENOUGH || digits > 16) throw new Refusal(400, "a chunk of a size that nobody has");
    }
    if (digits == 0) throw new Refusal(400, "a chunk without a size");
    if (c == ';' || c == ' ' || c == '\t') c = skipExtensions(c);
    lineEnd(c);
    if (size > room) throw new Refusal(413, "a body of more than " + options.maxBody + " bytes");
    room -= size;
    left = size;
    between = true;
    if (size > 0) return;
    lastChunk = true;
    for (c = next(); c != '\r'; c = next()) skipTrailer(c);
    lineEnd(c);
  }

  private int skipExtensions(int c) throws IOException {
    while (c == ' ' || c == '\t') c = spend(next());
    if (c != ';') throw new Refusal(400, "something after the size of a chunk");
    while (c != '\r') c = spend(next());
    return c;
  }

  private void skipTrailer(int c) throws IOException {
    if (c == ':') throw new Refusal(400, "a trailer without a name");
    for (; c != ':'; c = spend(next()))
      if (!RequestHead.isToken(c)) throw new Refusal(400, "a character that the name of a trailer cannot have");
    while (c != '\r') c = spend(next());
    lineEnd(c);
  }

  private int spend(int c) throws Refusal {
    if (++extensions > MOST_EXTENSIONS) throw new Refusal(400, "more beside a body than the server reads");
    if (c < 0x20 && c != '\t' && c != '\r' || c == 0x7f) throw new Refusal(400, "a control character beside a body");
    return c;
  }

  private void lineEnd(int c) throws IOException {
    if (c != '\r' || next() != '\n') throw new Refusal(400, "a chunk that does not end with its line");
  }

  private int next() throws IOException {
    int c = in.read();
    if (c < 0) throw new Refusal(400, "the body ended before its end");
    return c;
  }

  // ---- the end

  /** What reading it threw; null: nothing. */
  IOException failure() {
    return failure;
  }

  boolean isRead() {
    return left == 0 && lastChunk;
  }

  /** Whether another request may follow: what is unread is not too much, as far as one can see. */
  boolean canEnd() {
    return failure == null && !in.socket.isEnding() && (isRead() || left <= MOST_UNREAD && !expectation.owesContinue());
  }

  /** Reads away what is left, within reason; false: the connection cannot be used again. */
  boolean end() throws IOException {
    if (!canEnd()) return false;
    if (!isRead()) {
      var away = new byte[4_096];
      for (int some, all = 0; (some = read(away, 0, away.length)) >= 0;) if ((all += some) > MOST_UNREAD) return false;
    }
    over = true;
    return true;
  }

  /** From here on nothing can be read: a handler kept it. */
  void forbid() {
    over = true;
  }
}
