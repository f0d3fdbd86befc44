package io.fibry.net.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * Transfers the bytes of a Unix domain socket without encryption.
 *
 * <p><b>Bytes that have arrived.</b> The JDK's channels do not tell how many bytes have arrived.
 * Therefore {@link #available} reads without waiting into a buffer, from which the next read takes
 * the bytes. The channel does not block during that read. A write of another thread that begins at
 * this moment may transfer nothing, and tries again. If a write waits for the client, the change of
 * the channel's mode waits, too, until the client reads or the write limit is over.
 *
 * <p><b>Interrupts.</b> A channel closes itself if an interrupted thread uses it, even if its call
 * would not wait. A socket does so only if the call must wait. Therefore the interrupt is cleared
 * for a call that need not wait, and for a write.
 */
final class UnixTransport implements Transport {
  // the clients of a file are processes of this machine, which have no port
  private static final InetSocketAddress CLIENT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final int AHEAD_SIZE = 8 << 10;

  private final SocketChannel channel;
  private ByteBuffer ahead; // bytes that arrived before their read; null if there are none; used by the reading thread
  private boolean hasEnded; // whether a read found the end of the stream; used by the reading thread
  private volatile boolean isAhead; // whether `ahead` has bytes; written by the reading thread, read by any
  private volatile boolean hasInputEnded; // set by `endInput`

  UnixTransport(SocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public boolean needsHandshake() {
    return false;
  }

  @Override
  public void handshake() {}

  // ---- reading

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) return 0;
    if (Thread.currentThread().isInterrupted()) readAhead();
    if (ahead != null) return takeAhead(bytes, offset, length);
    if (hasEnded || hasInputEnded) return -1;
    int count = channel.read(ByteBuffer.wrap(bytes, offset, length));
    hasEnded = count < 0;
    return count;
  }

  private int takeAhead(byte[] bytes, int offset, int length) {
    int count = Math.min(length, ahead.remaining());
    ahead.get(bytes, offset, count);
    if (!ahead.hasRemaining()) {
      ahead = null;
      isAhead = false;
    }
    return count;
  }

  /** Reads the bytes that have arrived, without waiting, unless some were read before. */
  private void readAhead() throws IOException {
    if (ahead != null || hasEnded || hasInputEnded) return;
    var buffer = ByteBuffer.allocate(AHEAD_SIZE);
    boolean wasInterrupted = Thread.interrupted();
    try {
      channel.configureBlocking(false);
      try {
        hasEnded = channel.read(buffer) < 0;
      } finally {
        channel.configureBlocking(true);
      }
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
    if (buffer.position() == 0) return;
    ahead = buffer.flip();
    isAhead = true;
  }

  @Override
  public int available() throws IOException {
    readAhead();
    return ahead == null ? 0 : ahead.remaining();
  }

  @Override
  public long arrivedBytes() throws IOException {
    return available();
  }

  @Override
  public boolean hasUnreadInSocket() {
    return isAhead; // a thread that reads ahead of the conversation has read all others
  }

  @Override
  public boolean hasUnread() throws IOException {
    return available() > 0;
  }

  @Override
  public void endInput() {
    hasInputEnded = true;
    try {
      channel.shutdownInput();
    } catch (IOException readFails) {}
  }

  // ---- writing

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    var unwritten = ByteBuffer.wrap(bytes, offset, length);
    boolean wasInterrupted = Thread.interrupted();
    try {
      while (unwritten.hasRemaining()) if (channel.write(unwritten) == 0) Thread.yield();
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  @Override
  public void endOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public boolean hasCloseNotify() {
    return false;
  }

  @Override
  public void sendCloseNotify() {}

  // ---- the end

  @Override
  public void resetOnClose() {} // such a socket has no reset

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException closedAnyway) {}
  }

  @Override
  public void enableKeepAlive() {} // the system notices the end of a local client at once

  @Override
  public InetSocketAddress remoteAddress() {
    return CLIENT;
  }

  @Override
  public Optional<SSLSession> tls() {
    return Optional.empty();
  }
}
