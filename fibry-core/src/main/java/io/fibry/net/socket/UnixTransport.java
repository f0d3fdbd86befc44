package io.fibry.net.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Transfers the bytes of a Unix domain socket without encryption.
 *
 * <p><b>Waits.</b> The channel never blocks. A thread that can read or write nothing adds its
 * interest to the key, parks, and tries again whenever it is woken. No wake-up is lost:
 * <ul>
 * <li>The thread stores itself in {@code reader} or {@code writer} before it tries. A thread that
 * changes the result of a later attempt reads this field after the change. So either the attempt
 * finds the change, or the thread gets a permit, and its park returns. The changes are bytes in
 * {@code ahead}, the end of the input, and the close.
 * <li>The poller first clears the interest and then reads the field. If the thread added the
 * interest before the clear, the poller sees the thread and unparks it; the thread tries again and
 * adds the interest again. If the thread added the interest after the clear, the interest stays.
 * The wake-up of the selector makes the next selection use it, and the selector also reports
 * channels that were ready before.
 * </ul>
 *
 * <p><b>Bytes that have arrived.</b> The JDK's channels do not tell how many bytes have arrived.
 * Therefore any thread may read them into {@code ahead}, from which the next read takes them. A
 * monitor, which is held only for calls that do not wait, keeps the order of the bytes.
 *
 * <p><b>Interrupts.</b> They have the effect that they have on a JDK socket. A virtual thread that
 * must wait closes the connection. A platform thread continues to wait and keeps its interrupt.
 */
final class UnixTransport implements Transport, UnixPoller.Waiters {
  /** The clients of a file are processes of this machine, which have no port. */
  private static final InetSocketAddress CLIENT = new InetSocketAddress(loopback(), 0);
  private static final int MAX_TRANSFER = 64 << 10; // bytes; the JDK stores a direct buffer of this size per thread
  private static final int AHEAD_SIZE = 8 << 10; // bytes read ahead, usually
  static final int MAX_AHEAD = 256 << 10; // bytes read ahead when a limit is over
  private static final byte[] NOTHING = {};

  private final SocketChannel channel;
  private final UnixPoller selectorThread;
  private final SelectionKey key;

  // the next fields are guarded by `input`
  private final Object input = new Object();
  private byte[] ahead = NOTHING; // bytes that arrived before their read
  private int aheadAt; // index of the next byte in `ahead`
  private int aheadEnd; // index after the last byte
  private boolean hasEnded; // whether a read found the end of the stream
  private IOException failure; // failure of a read ahead, thrown by the next read; or null

  private final AtomicBoolean isClosed = new AtomicBoolean(); // whether the poller knows that the connection is closed
  private volatile boolean hasInputEnded; // set by `endInput`
  private volatile Thread reader; // in `read`; null if none; written by that thread, read by any
  private volatile Thread writer; // in `write`; null if none; written by that thread, read by any

  UnixTransport(SocketChannel channel, UnixPoller selectorThread) throws IOException {
    this.channel = channel;
    this.selectorThread = selectorThread;
    channel.configureBlocking(false);
    this.key = selectorThread.register(channel, this);
  }

  /** Returns 127.0.0.1, even if the JVM prefers addresses of IPv6. */
  private static InetAddress loopback() {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  // ---- waits

  /**
   * Waits until the channel may be ready, or the thread is woken. Returns whether a platform thread
   * was interrupted; its interrupt is then cleared, because it would end the next wait at once.
   */
  private boolean await(int operation) throws SocketException {
    try {
      key.interestOpsOr(operation);
    } catch (CancelledKeyException closed) {
      close();
      throw closedException();
    } catch (Error error) { // the key may have the interest, but the selector may not know it
      close();
      throw error;
    }
    selectorThread.wakeUp();
    LockSupport.park(this);
    if (!Thread.currentThread().isVirtual()) return Thread.interrupted();
    if (!Thread.currentThread().isInterrupted()) return false;
    close();
    throw new SocketException("Closed by interrupt");
  }

  private static SocketException closedException() {
    return new SocketException("Socket closed");
  }

  @Override
  public void wake(int operations) {
    try {
      key.interestOpsAnd(~operations);
    } catch (CancelledKeyException closed) { // the thread finds the close
    } catch (Error error) { // the selector may report the channel forever
      close();
      throw error;
    }
    if ((operations & SelectionKey.OP_READ) != 0) LockSupport.unpark(reader);
    if ((operations & SelectionKey.OP_WRITE) != 0) LockSupport.unpark(writer);
  }

  @Override
  public void wakeBoth() {
    LockSupport.unpark(reader);
    LockSupport.unpark(writer);
  }

  // ---- reading

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) return 0;
    var target = ByteBuffer.wrap(bytes, offset, Math.min(length, MAX_TRANSFER));
    boolean wasInterrupted = false;
    reader = Thread.currentThread();
    try {
      while (true) {
        int count = readNow(target);
        if (count != 0) return count;
        wasInterrupted |= await(SelectionKey.OP_READ);
      }
    } finally {
      reader = null;
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  /** Reads the bytes that have arrived. Returns 0 if there are none, and -1 at the end. */
  private int readNow(ByteBuffer target) throws IOException {
    synchronized (input) {
      if (!channel.isOpen()) throw closedException();
      if (hasInputEnded) return -1;
      if (aheadAt < aheadEnd) return takeAhead(target);
      if (failure != null) throw failure;
      if (hasEnded) return -1;
      int count = readChannel(target);
      hasEnded = count < 0;
      return count;
    }
  }

  private int takeAhead(ByteBuffer target) {
    int count = Math.min(target.remaining(), aheadEnd - aheadAt);
    target.put(ahead, aheadAt, count);
    aheadAt += count;
    if (aheadAt == aheadEnd) {
      ahead = NOTHING;
      aheadAt = 0;
      aheadEnd = 0;
    }
    return count;
  }

  /** Reads without waiting. The interrupt is cleared, because it could close the channel. */
  private int readChannel(ByteBuffer target) throws IOException {
    boolean wasInterrupted = Thread.interrupted();
    try {
      return channel.read(target);
    } catch (ClosedChannelException closed) {
      throw closedException();
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  /**
   * Reads ahead until this many bytes were read ahead, or all bytes that have arrived. Any thread
   * may call this method, also while another thread waits in {@link #read}. Returns how many bytes
   * the next read can get without waiting.
   */
  private int readAhead(int max) {
    synchronized (input) {
      if (hasInputEnded) return 0;
      boolean hasChanged = false;
      while (aheadEnd - aheadAt < max && !hasEnded && failure == null && channel.isOpen()) {
        makeRoom();
        int count;
        try {
          count = readChannel(ByteBuffer.wrap(ahead, aheadEnd, Math.min(ahead.length - aheadEnd, MAX_TRANSFER)));
        } catch (IOException broken) {
          failure = broken;
          count = -1;
        }
        if (count == 0) break;
        hasChanged = true;
        if (count > 0) aheadEnd += count;
        else hasEnded = failure == null;
      }
      if (aheadAt == aheadEnd) {
        ahead = NOTHING; // thousands of connections may be idle
        aheadAt = 0;
        aheadEnd = 0;
      }
      if (hasChanged) LockSupport.unpark(reader); // the selector no longer finds these bytes
      return aheadEnd - aheadAt;
    }
  }

  /** Makes room for more bytes in {@code ahead}, before they are read, so that none can be lost. */
  private void makeRoom() {
    if (aheadEnd < ahead.length) return;
    int size = aheadEnd - aheadAt;
    ahead =
        size == 0 ? new byte[AHEAD_SIZE] : Arrays.copyOfRange(ahead, aheadAt, aheadAt + Math.max(AHEAD_SIZE, 2 * size));
    aheadAt = 0;
    aheadEnd = size;
  }

  private void throwFailure() throws IOException {
    synchronized (input) {
      if (!channel.isOpen()) throw closedException();
      if (aheadAt == aheadEnd && failure != null && !hasInputEnded) throw failure;
    }
  }

  @Override
  public int available() throws IOException {
    int count = readAhead(1);
    if (count == 0) throwFailure();
    return count;
  }

  @Override
  public long arrivedBytes() throws IOException {
    int count = readAhead(MAX_AHEAD);
    if (count == 0) throwFailure();
    return count;
  }

  @Override
  public boolean hasUnreadInSocket() {
    return readAhead(1) > 0;
  }

  @Override
  public boolean hasUnread() throws IOException {
    return available() > 0;
  }

  @Override
  public void endInput() {
    hasInputEnded = true;
    LockSupport.unpark(reader);
  }

  // ---- writing

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    boolean wasInterrupted = false;
    writer = Thread.currentThread();
    try {
      for (int written = 0; written < length;) {
        int size = Math.min(length - written, MAX_TRANSFER);
        int count = writeChannel(ByteBuffer.wrap(bytes, offset + written, size));
        written += count;
        if (count == 0) wasInterrupted |= await(SelectionKey.OP_WRITE);
      }
    } finally {
      writer = null;
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  private int writeChannel(ByteBuffer source) throws IOException {
    boolean wasInterrupted = Thread.interrupted();
    try {
      return channel.write(source);
    } catch (ClosedChannelException closed) {
      throw closedException();
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  @Override
  public void endOutput() throws IOException {
    channel.shutdownOutput();
  }

  // ---- the end

  @Override
  public void resetOnClose() {} // such a socket has no reset

  @Override
  public void close() {
    try {
      channel.close(); // waits for no other thread, because the channel does not block
    } catch (IOException closedAnyway) {} finally {
      if (isClosed.compareAndSet(false, true)) selectorThread.remove();
      wakeBoth();
    }
  }

  @Override
  public void enableKeepAlive() {} // the system notices the end of a local client at once

  @Override
  public InetSocketAddress remoteAddress() {
    return CLIENT;
  }
}
