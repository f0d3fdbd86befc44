package io.fibry.test;

import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The bytes that one side of a {@link MemorySocket} has sent, and that the other side has not read.
 * Thread-safe.
 */
final class MemoryPipe {
  // bytes that a paused reader takes before the writer waits, like the buffers of a connection
  private static final int PAUSED_CAPACITY = 64 * 1_024;

  private final ReentrantLock lock = new ReentrantLock(); // guards all fields
  private final Condition changed = lock.newCondition();
  private byte[] bytes = new byte[1_024];
  private int start; // index of the next byte to read
  private int end; // index after the last byte
  private boolean hasBeenRead; // whether a byte was read
  private boolean hasEnded; // whether the writer sends nothing more
  private boolean isReset; // whether the writer has closed by a reset
  private boolean isReaderClosed;
  private boolean isPaused; // whether the reader takes no bytes for now
  private Runnable onEnd; // runs when the writer has ended; null if there is none, or it was taken to be run
  private Runnable onChange; // runs after each write and end; null if there is none

  private IOException failure() {
    return isReaderClosed ? new SocketException("the socket is closed")
        : isReset ? new SocketException("the other side has reset the connection") : null;
  }

  /** Waits for at least one byte. Returns -1 if the writer has ended and all bytes were read. */
  int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) return 0;
    lock.lock();
    try {
      while (start == end && !hasEnded && failure() == null) changed.awaitUninterruptibly();
      if (failure() != null) throw failure();
      if (start == end) return -1;
      int count = Math.min(length, end - start);
      System.arraycopy(bytes, start, target, offset, count);
      start += count;
      hasBeenRead = true;
      changed.signalAll();
      return count;
    } finally {
      lock.unlock();
    }
  }

  int available() throws IOException {
    lock.lock();
    try {
      if (isReaderClosed) throw failure();
      return end - start;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes all bytes that the reader has not read, without waiting. A reset has destroyed them.
   */
  byte[] takeAll() {
    lock.lock();
    try {
      var taken = isReset ? new byte[0] : Arrays.copyOfRange(bytes, start, end);
      start = end;
      changed.signalAll();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  boolean hasEnded() {
    lock.lock();
    try {
      return hasEnded;
    } finally {
      lock.unlock();
    }
  }

  /** Called by the reader. While the reader pauses, a writer waits if too many bytes are unread. */
  void setPaused(boolean isPaused) {
    change(() -> this.isPaused = isPaused);
  }

  /** Adds the bytes. If the reader is paused and its buffer is full, waits before. */
  void write(byte[] source, int offset, int length) throws IOException {
    Runnable action;
    lock.lock();
    try {
      while (mustWriterWait()) changed.awaitUninterruptibly();
      if (hasEnded || isReaderClosed) throw new SocketException("the connection is closed");
      if (end + length > bytes.length) {
        bytes = Arrays.copyOfRange(bytes, start, start + Math.max(2 * (end - start), end - start + length));
        end -= start;
        start = 0;
      }
      System.arraycopy(source, offset, bytes, end, length);
      end += length;
      changed.signalAll();
      action = onChange;
    } finally {
      lock.unlock();
    }
    if (action != null) action.run();
  }

  private boolean mustWriterWait() {
    return isPaused && end - start >= PAUSED_CAPACITY && !hasEnded && !isReaderClosed;
  }

  /** Returns a text about the bytes for which a write must wait, or an empty text. */
  String unreadText(String client) {
    lock.lock();
    try {
      return mustWriterWait() ? client + " has " + (end - start) + " bytes that its paused client has not read" : "";
    } finally {
      lock.unlock();
    }
  }

  /** Called by the writer: no more bytes follow. */
  void end() {
    change(() -> hasEnded = true);
  }

  /** Called by the writer: closes, and the reader gets an exception in place of unread bytes. */
  void reset() {
    change(() -> hasEnded = isReset = true);
  }

  /** Called by the reader: its reads end as at the end of the stream. */
  void endReads() {
    change(() -> {
      start = end;
      hasEnded = true;
    });
  }

  /** Called by the reader: its reads and the writer's writes fail. */
  void closeReader() {
    change(() -> isReaderClosed = true);
  }

  /**
   * Runs the action once: when the writer ends, on the writer's thread, or now if the writer has
   * ended. The action can read all bytes without waiting.
   */
  void onEnd(Runnable action) {
    change(() -> onEnd = action);
  }

  /**
   * Runs the action on the writer's thread, after each write and when the writer ends. Two writers
   * may run it at the same time.
   */
  void onChange(Runnable action) {
    change(() -> onChange = action);
  }

  private void change(Runnable change) {
    Runnable action = null;
    Runnable listener;
    lock.lock();
    try {
      change.run();
      changed.signalAll();
      listener = onChange;
      if (hasEnded) {
        action = onEnd;
        onEnd = null;
      }
    } finally {
      lock.unlock();
    }
    if (action != null) action.run();
    if (listener != null) listener.run();
  }

  /** Waits until the reader has read a byte or closed. Returns false after the limit. */
  boolean awaitFirstRead(Duration limit) throws InterruptedException {
    lock.lock();
    try {
      long nanos = limit.toNanos();
      while (!hasBeenRead && !isReaderClosed) {
        if (nanos <= 0) return false;
        nanos = changed.awaitNanos(nanos);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
