package io.fibry.net;

import io.fibry.text.Lines;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLProtocolException;
import javax.net.ssl.SSLSession;

/**
 * The bytes of a socket through TLS. A stream that ends without TLS's own end is torn: an attacker
 * who cuts it must not pass for the client. Decrypted bytes are kept only as long as they are
 * needed, since thousands of connections may be idle.
 */
final class TlsTransport implements Transport {
  private static final int HEADER_SIZE = 5; // bytes of a record before its content
  private static final int MAX_RECORD = HEADER_SIZE + (16 << 10) + 2_048; // of a record
  private static final int SMALL = 1_024;
  private static final int FIRST_TYPE = 20; // of records
  private static final int LAST_TYPE = 23;
  private static final int SHORTEST_METHOD = 3; // letters
  private static final byte[] NOTHING = {};
  private static final String BROKEN = "an Error broke reading off";
  private static final byte[] USE_HTTPS = ByteBuilder.latin("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
      + "Content-Type: text/plain\r\nContent-Length: 51\r\n\r\nThis port speaks TLS: ask it by https, not by http.");

  private final PlainTransport wire;
  private final Supplier<SSLEngine> engines;
  private final WriteLock writeLock; // for the threads that write, also here when a read must respond

  // of the thread that reads
  private byte[] records = NOTHING;
  private int at; // in the records: the next byte
  private int end; // after the last byte
  private boolean wasLong; // the last record
  private byte[] content = NOTHING; // that was read, and not asked for yet
  private int contentAt;
  private int contentEnd;
  private boolean ended; // by the client
  private boolean broken; // by an Error; the following bytes cannot be read
  // Written by the thread that begins, before any other thread reads or writes
  private SSLEngine engine;
  private boolean begun;

  private volatile boolean inputEnded; // by this side

  TlsTransport(PlainTransport wire, Supplier<SSLEngine> engines, WriteLock turns) {
    this.wire = wire;
    this.engines = engines;
    this.writeLock = turns;
  }

  // ---- the handshake

  @Override
  public boolean needsHandshake() {
    return true;
  }

  @Override
  public void handshake() throws IOException {
    engine = engines.get();
    try {
      negotiate();
      begun = true;
    } catch (SSLException refused) {
      sendAlert(refused);
      throw refused;
    }
  }

  private void negotiate() throws IOException {
    engine.beginHandshake();
    for (var next = engine.getHandshakeStatus(); next != HandshakeStatus.NOT_HANDSHAKING; next =
        engine.getHandshakeStatus()) {
      switch (next) {
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          if (!hasRecord()) throw new EOFException("it ended before a TLS connection was agreed on");
          if (unwrap(ByteBuffer.wrap(NOTHING)).getStatus() == Status.CLOSED)
            throw new EOFException("it gave up before a TLS connection was agreed on");
        }
        default -> serve();
      }
    }
  }

  /** Sends an alert, or an answer in plain HTTP to a client that speaks HTTP. */
  private void sendAlert(SSLException refused) {
    try {
      if (looksLikeHttp()) wire.write(USE_HTTPS, 0, USE_HTTPS.length);
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && !engine.isOutboundDone()) respond();
    } catch (IOException gone) {
      refused.addSuppressed(gone);
    }
  }

  /** Does what the engine wants besides reading. */
  private void serve() throws IOException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> compute();
        case NEED_WRAP -> respond();
        default -> {
          return;
        }
      }
    }
  }

  private void compute() {
    for (var task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) task.run();
  }

  private void respond() throws IOException {
    writeLock.runExclusively(() -> wrap(ByteBuffer.wrap(NOTHING)));
  }

  // ---- reading

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (broken) throw new SocketException(BROKEN);
    try {
      while (contentAt == contentEnd) {
        if (ended) return -1;
        if (!hasRecord()) return endOfStream();
        if (length >= recordLength()) { // then its content has room
          int some = decrypt(ByteBuffer.wrap(bytes, offset, length));
          if (some > 0) return some;
        } else keepContent();
      }
      return copy(bytes, offset, length);
    } catch (Error half) {
      throw brokenBy(half);
    }
  }

  private Error brokenBy(Error half) {
    broken = true;
    return half;
  }

  /** Keeps the content of one record for the following reads. */
  private void keepContent() throws IOException {
    content = new byte[recordLength()];
    contentAt = 0;
    contentEnd = 0;
    contentEnd = decrypt(ByteBuffer.wrap(content));
  }

  private int copy(byte[] bytes, int offset, int length) {
    int some = Math.min(length, contentEnd - contentAt);
    System.arraycopy(content, contentAt, bytes, offset, some);
    contentAt += some;
    if (contentAt == contentEnd) content = NOTHING;
    return some;
  }

  private int endOfStream() throws SSLException {
    if (inputEnded) return -1;
    throw new SSLException(
        "it ended its stream without saying so in TLS (no close_notify), so what it sent may be torn");
  }

  /** {@return how many bytes} */
  private int decrypt(ByteBuffer to) throws IOException {
    var result = unwrap(to);
    if (result.getStatus() == Status.CLOSED) ended = true;
    else if (result.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING && isBeforeTls13())
      throw new SSLException("it wants to negotiate again, which is refused");
    else serve();
    return result.bytesProduced();
  }

  /** Before TLS 1.3. */
  private boolean isBeforeTls13() {
    return !engine.getSession().getProtocol().equals("TLSv1.3");
  }

  /** One record. */
  private SSLEngineResult unwrap(ByteBuffer to) throws IOException {
    wasLong = recordLength() > SMALL;
    var from = ByteBuffer.wrap(records, at, end - at);
    var result = engine.unwrap(from, to);
    at = from.position();
    if (result.getStatus() == Status.BUFFER_OVERFLOW || result.getStatus() == Status.BUFFER_UNDERFLOW)
      throw new SSLProtocolException("it sent a TLS record that is not whole");
    return result;
  }

  /** Waits for a whole one. Returns false if the stream has ended. */
  private boolean hasRecord() throws IOException {
    for (int length = recordLength(); end - at < length; length = recordLength()) if (!receive(length)) return false;
    return true;
  }

  /** Returns the length of the record as far as it is known. */
  private int recordLength() throws SSLProtocolException {
    if (end - at < HEADER_SIZE) return HEADER_SIZE;
    if (records[at] < FIRST_TYPE || records[at] > LAST_TYPE) throw new SSLProtocolException(
        looksLikeHttp() ? "it sent an HTTP request without TLS" : "it sent what is not TLS");
    int length = HEADER_SIZE + (records[at + 3] & 0xff) * 256 + (records[at + 4] & 0xff);
    if (length > MAX_RECORD) throw new SSLProtocolException("it sent a TLS record of " + length + " bytes");
    return length;
  }

  private boolean looksLikeHttp() {
    if (end - at < HEADER_SIZE) return false;
    for (int i = at; i < at + SHORTEST_METHOD; i++) if (records[i] < 'A' || records[i] > 'Z') return false;
    return true;
  }

  private boolean receive(int length) throws IOException {
    if (at == end) {
      at = 0;
      end = 0;
      if (records.length < SMALL || records.length > SMALL && !wasLong) records = new byte[SMALL];
    } else if (at > 0) {
      System.arraycopy(records, at, records, 0, end - at);
      end -= at;
      at = 0;
    }
    if (length > records.length) records = Arrays.copyOf(records, MAX_RECORD);
    int some = wire.read(records, end, records.length - end);
    if (some < 0) return false;
    end += some;
    return true;
  }

  /**
   * Records that have come are decrypted for this, because a record does not say how much content
   * it has.
   */
  @Override
  public int available() throws IOException {
    if (broken) throw new SocketException(BROKEN);
    try {
      while (contentAt == contentEnd && !ended && hasWholeRecord()) keepContent();
    } catch (Error half) {
      throw brokenBy(half);
    }
    return contentEnd - contentAt;
  }

  /** Looks only at bytes that have come, and does not wait. */
  private boolean hasWholeRecord() throws IOException {
    for (int length = recordLength(); end - at < length; length = recordLength())
      if (wire.available() == 0 || !receive(length)) return false;
    return true;
  }

  @Override
  public long arrived() throws IOException {
    return (long) contentEnd - contentAt + end - at + wire.available();
  }

  @Override
  public boolean hasArrived() {
    return wire.hasArrived();
  }

  @Override
  public boolean hasUnread() throws IOException {
    return contentAt < contentEnd || at < end || wire.hasUnread();
  }

  @Override
  public void endInput() {
    inputEnded = true;
    wire.endInput();
  }

  // ---- writing

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    var from = ByteBuffer.wrap(bytes, offset, length);
    while (from.hasRemaining()) {
      var result = wrap(from);
      if (result.getStatus() == Status.CLOSED) throw new SocketException("TLS has ended: nothing can be sent any more");
      if (result.bytesProduced() == 0) compute(); // new keys, after very much
    }
  }

  /** At most one record, and sends it. */
  private SSLEngineResult wrap(ByteBuffer from) throws IOException {
    var spare = SpareBuffers.take(engine.getSession().getPacketBufferSize());
    try {
      var to = ByteBuffer.wrap(spare);
      var result = engine.wrap(from, to);
      if (result.getStatus() == Status.BUFFER_OVERFLOW)
        throw new AssertionError(spare.length + " bytes are too few for a record");
      wire.write(spare, 0, to.position());
      return result;
    } finally {
      SpareBuffers.give(spare);
    }
  }

  @Override
  public boolean hasCloseNotify() {
    return begun;
  }

  @Override
  public void sendCloseNotify() throws IOException {
    engine.closeOutbound();
    while (!engine.isOutboundDone() && wrap(ByteBuffer.wrap(NOTHING)).bytesProduced() > 0) {
    }
  }

  @Override
  public void endOutput() throws IOException {
    wire.endOutput();
  }

  // ---- the end

  static SSLException named(SSLException failure, String client) {
    var cause = failure.getCause(); // the engine may have wrapped what it means
    return new SSLException(
        client + " was cut off by TLS: " + Lines.message(failure) + (cause == null ? "" : ": " + Lines.message(cause)),
        failure);
  }

  @Override
  public void resetOnClose() {
    wire.resetOnClose();
  }

  @Override
  public void close() {
    wire.close();
  }

  @Override
  public void enableKeepAlive() {
    wire.enableKeepAlive();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return wire.remoteAddress();
  }

  @Override
  public Optional<SSLSession> tls() {
    return Optional.of(engine.getSession());
  }

  /**
   * Buffers for records that are being sent, shared by all connections: a record takes 16 kB even
   * for an answer of a few bytes. A buffer that was taken belongs to one thread, because taking it
   * empties its slot. A buffer that finds its slot filled when it is returned becomes garbage.
   */
  private static final class SpareBuffers {
    private static final int SLOTS = 64;
    private static final AtomicReferenceArray<byte[]> ARRAYS = new AtomicReferenceArray<>(SLOTS);

    private SpareBuffers() {}

    private static int slot() {
      return (int) Thread.currentThread().threadId() & SLOTS - 1;
    }

    static byte[] take(int size) {
      var spare = ARRAYS.getAndSet(slot(), null);
      return spare != null && spare.length >= size ? spare : new byte[size];
    }

    static void give(byte[] spare) {
      ARRAYS.setRelease(slot(), spare);
    }
  }
}
