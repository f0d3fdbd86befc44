package io.fibry.net.socket;

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
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLProtocolException;
import javax.net.ssl.SSLSession;

/**
 * Transfers the bytes of a socket through TLS. A stream that ends without a close_notify of TLS is
 * an error, because an attacker may have truncated it. The array of decrypted bytes is released
 * once all its bytes are read, because thousands of connections may be idle.
 */
final class TlsTransport implements Transport {
  private static final int HEADER_SIZE = 5; // bytes of a record before its content
  private static final int MAX_RECORD = HEADER_SIZE + (16 << 10) + 2_048; // bytes of a record
  private static final int SMALL_SIZE = 1_024; // bytes of `records` while only short records arrive
  private static final int FIRST_TYPE = 20; // the lowest type of a record
  private static final int LAST_TYPE = 23; // the highest type of a record
  private static final int SHORTEST_METHOD = 3; // letters of the shortest HTTP method
  private static final byte[] NOTHING = {};
  private static final String BROKEN = "nothing more can be read: an Error has lost bytes of the client";
  private static final byte[] USE_HTTPS = ByteBuilder.latin1Bytes("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
      + "Content-Type: text/plain\r\nContent-Length: 51\r\n\r\nThis port speaks TLS: ask it by https, not by http.");

  private final Transport wire;
  private final Supplier<SSLEngine> engines;
  private final WriteLock writeLock; // held during all writes; taken here when a read must send records

  // used by the thread that reads
  private byte[] records = NOTHING; // received bytes, encrypted
  private int recordsAt; // index of the next byte in `records`
  private int recordsEnd; // index after the last byte
  private boolean isLastLong; // whether the last record was longer than SMALL_SIZE
  private byte[] content = NOTHING; // decrypted bytes that no read has taken yet
  private int contentAt;
  private int contentEnd;
  private boolean hasClientEnded; // the client has sent a close_notify
  private boolean isBroken; // an Error has lost bytes, so the following bytes cannot be read
  // written during the handshake, before any other thread reads or writes
  private SSLEngine engine;
  private boolean isNegotiated;

  private volatile boolean hasInputEnded; // set by endInput()

  TlsTransport(Transport wire, Supplier<SSLEngine> engines, WriteLock writeLock) {
    this.wire = wire;
    this.engines = engines;
    this.writeLock = writeLock;
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
      isNegotiated = true;
    } catch (SSLException refused) {
      sendAlert(refused);
      throw refused;
    }
  }

  private void negotiate() throws IOException {
    engine.beginHandshake();
    for (var status = engine.getHandshakeStatus(); status != HandshakeStatus.NOT_HANDSHAKING; status =
        engine.getHandshakeStatus()) {
      switch (status) {
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          if (!hasRecord()) throw new EOFException("a client ended its stream before the end of the TLS handshake");
          if (unwrap(ByteBuffer.wrap(NOTHING)).getStatus() == Status.CLOSED)
            throw new EOFException("a client gave up before the end of the TLS handshake");
        }
        default -> serveEngine();
      }
    }
  }

  /**
   * Sends the engine's alert. If the client speaks plain HTTP, sends an HTTP response before the
   * alert.
   */
  private void sendAlert(SSLException refused) {
    try {
      if (looksLikeHttp()) wire.write(USE_HTTPS, 0, USE_HTTPS.length);
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && !engine.isOutboundDone()) sendEngineRecord();
    } catch (IOException disconnected) {
      refused.addSuppressed(disconnected);
    }
  }

  /** Runs the engine's tasks and sends the engine's records until the engine needs neither. */
  private void serveEngine() throws IOException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> runTasks();
        case NEED_WRAP -> sendEngineRecord();
        default -> {
          return;
        }
      }
    }
  }

  private void runTasks() {
    for (var task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) task.run();
  }

  private void sendEngineRecord() throws IOException {
    writeLock.runExclusively(() -> wrap(ByteBuffer.wrap(NOTHING)));
  }

  // ---- reading

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (isBroken) throw new SocketException(BROKEN);
    try {
      while (contentAt == contentEnd) {
        if (hasClientEnded) return -1;
        if (!hasRecord()) return endOfStream();
        if (length >= recordLength()) { // the content is shorter than its record, so it fits into `bytes`
          int count = decrypt(ByteBuffer.wrap(bytes, offset, length));
          if (count > 0) return count;
        } else decryptRecord();
      }
      return copy(bytes, offset, length);
    } catch (Error error) {
      throw markBroken(error);
    }
  }

  private Error markBroken(Error error) {
    isBroken = true;
    return error;
  }

  /** Decrypts one record into {@code content}, for the following reads. */
  private void decryptRecord() throws IOException {
    content = new byte[recordLength()];
    contentAt = 0;
    contentEnd = 0;
    contentEnd = decrypt(ByteBuffer.wrap(content));
  }

  private int copy(byte[] bytes, int offset, int length) {
    int count = Math.min(length, contentEnd - contentAt);
    System.arraycopy(content, contentAt, bytes, offset, count);
    contentAt += count;
    if (contentAt == contentEnd) content = NOTHING;
    return count;
  }

  private int endOfStream() throws SSLException {
    if (hasInputEnded) return -1;
    throw new SSLException(
        "it ended its stream without saying so in TLS (no close_notify), so its bytes may be incomplete");
  }

  /** Decrypts one record. Returns the number of its bytes that are content. */
  private int decrypt(ByteBuffer target) throws IOException {
    var result = unwrap(target);
    if (result.getStatus() == Status.CLOSED) hasClientEnded = true;
    else if (result.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING && isBeforeTls13())
      throw new SSLException("it wants to negotiate again, which is refused");
    else serveEngine();
    return result.bytesProduced();
  }

  private boolean isBeforeTls13() {
    return !engine.getSession().getProtocol().equals("TLSv1.3");
  }

  /** Makes the engine decrypt one record. */
  private SSLEngineResult unwrap(ByteBuffer target) throws IOException {
    isLastLong = recordLength() > SMALL_SIZE;
    var source = ByteBuffer.wrap(records, recordsAt, recordsEnd - recordsAt);
    var result = engine.unwrap(source, target);
    recordsAt = source.position();
    if (result.getStatus() == Status.BUFFER_OVERFLOW || result.getStatus() == Status.BUFFER_UNDERFLOW)
      throw new SSLProtocolException("it sent a TLS record that is not whole");
    return result;
  }

  /** Waits for a whole record. Returns false if the stream ended before the end of a record. */
  private boolean hasRecord() throws IOException {
    for (int length = recordLength(); recordsEnd - recordsAt < length; length = recordLength())
      if (!receive(length)) return false;
    return true;
  }

  /** Returns the length of the next record, or HEADER_SIZE if its header is incomplete. */
  private int recordLength() throws SSLProtocolException {
    if (recordsEnd - recordsAt < HEADER_SIZE) return HEADER_SIZE;
    if (records[recordsAt] < FIRST_TYPE || records[recordsAt] > LAST_TYPE) throw new SSLProtocolException(
        looksLikeHttp() ? "it sent an HTTP request without TLS" : "it sent bytes that are not TLS");
    int length = HEADER_SIZE + (records[recordsAt + 3] & 0xff) * 256 + (records[recordsAt + 4] & 0xff);
    if (length > MAX_RECORD) throw new SSLProtocolException("it sent a TLS record of " + length + " bytes");
    return length;
  }

  private boolean looksLikeHttp() {
    if (recordsEnd - recordsAt < HEADER_SIZE) return false;
    for (int i = recordsAt; i < recordsAt + SHORTEST_METHOD; i++)
      if (records[i] < 'A' || records[i] > 'Z') return false;
    return true;
  }

  private boolean receive(int length) throws IOException {
    if (recordsAt == recordsEnd) {
      recordsAt = 0;
      recordsEnd = 0;
      if (records.length < SMALL_SIZE || records.length > SMALL_SIZE && !isLastLong) records = new byte[SMALL_SIZE];
    } else if (recordsAt > 0) {
      System.arraycopy(records, recordsAt, records, 0, recordsEnd - recordsAt);
      recordsEnd -= recordsAt;
      recordsAt = 0;
    }
    if (length > records.length) records = Arrays.copyOf(records, MAX_RECORD);
    int count = wire.read(records, recordsEnd, records.length - recordsEnd);
    if (count < 0) return false;
    recordsEnd += count;
    return true;
  }

  /** Decrypts arrived records, because a record's length does not tell how much content it has. */
  @Override
  public int available() throws IOException {
    if (isBroken) throw new SocketException(BROKEN);
    try {
      while (contentAt == contentEnd && !hasClientEnded && hasWholeRecord()) decryptRecord();
    } catch (Error error) {
      throw markBroken(error);
    }
    return contentEnd - contentAt;
  }

  /** Returns whether a whole record has arrived, without waiting for one. */
  private boolean hasWholeRecord() throws IOException {
    for (int length = recordLength(); recordsEnd - recordsAt < length; length = recordLength())
      if (wire.available() == 0 || !receive(length)) return false;
    return true;
  }

  @Override
  public long arrivedBytes() throws IOException {
    return (long) contentEnd - contentAt + recordsEnd - recordsAt + wire.available();
  }

  @Override
  public boolean hasUnreadInSocket() {
    return wire.hasUnreadInSocket();
  }

  @Override
  public boolean hasUnread() throws IOException {
    return contentAt < contentEnd || recordsAt < recordsEnd || wire.hasUnread();
  }

  @Override
  public void endInput() {
    hasInputEnded = true;
    wire.endInput();
  }

  // ---- writing

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    var source = ByteBuffer.wrap(bytes, offset, length);
    while (source.hasRemaining()) {
      var result = wrap(source);
      if (result.getStatus() == Status.CLOSED) throw new SocketException("TLS has ended: nothing can be sent any more");
      if (result.bytesProduced() == 0) runTasks(); // for example, the engine makes new keys in a task after many bytes
    }
  }

  /** Makes the engine encrypt at most one record, and sends the record. */
  private SSLEngineResult wrap(ByteBuffer source) throws IOException {
    var spare = SpareBuffers.take(engine.getSession().getPacketBufferSize());
    try {
      var target = ByteBuffer.wrap(spare);
      var result = engine.wrap(source, target);
      if (result.getStatus() == Status.BUFFER_OVERFLOW)
        throw new AssertionError(spare.length + " bytes are too few for a record");
      wire.write(spare, 0, target.position());
      return result;
    } finally {
      SpareBuffers.give(spare);
    }
  }

  @Override
  public boolean hasCloseNotify() {
    return isNegotiated;
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

  static SSLException withClient(SSLException failure, String client) {
    var cause = failure.getCause(); // the engine may have wrapped the exception that has the reason
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
   * Buffers for records that are being sent, shared by all connections: the engine needs 16 kB even
   * for a response of a few bytes. A thread that takes a buffer empties its slot, so no other
   * thread gets the buffer. A returned buffer replaces a buffer that is in the slot.
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
