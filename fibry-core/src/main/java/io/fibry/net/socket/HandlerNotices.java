package io.fibry.net.socket;

import io.fibry.block.Throwables;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Interrupts the handler of an exchange at its time limit, and notifies it that its client has
 * disconnected. Used by the conversation only.
 */
public final class HandlerNotices {
  private final Scheduler clock;
  private final Transport transport;
  private HandlingLimit limit; // null unless the time of the present handler is limited
  private ReadAhead readAhead; // has the next byte, or waits for it; null if the conversation reads the transport

  HandlerNotices(Scheduler clock, Transport transport) {
    this.clock = clock;
    this.transport = transport;
  }

  /** Interrupts the current thread after this time, unless {@link #endLimit} comes first. */
  public void limitHandling(Duration duration) {
    limit = HandlingLimit.begin(clock, duration);
  }

  /** Ends the limit, if there is one. Returns whether it was exceeded. */
  public boolean endLimit() {
    var ended = limit;
    if (ended == null) return false;
    limit = null;
    return ended.end();
  }

  /** Called before the conversation reads or writes the socket. */
  void pause() {
    if (limit != null) limit.pause();
  }

  /** Called after the conversation has read or written the socket. */
  void resume() {
    if (limit != null) limit.resume();
  }

  /** Runs the action once if the client disconnects before {@link #forgetDisconnect}. */
  public void onDisconnect(Runnable action) {
    if (readAhead == null) readAhead = ReadAhead.start(transport);
    readAhead.watch(action);
  }

  /** Forgets the action of {@link #onDisconnect} unless it has begun. */
  public void forgetDisconnect() {
    if (readAhead != null) readAhead.forget();
  }

  boolean isReadingAhead() {
    return readAhead != null;
  }

  /** Returns the thread that takes the next byte from the transport. */
  Thread reader() {
    return readAhead == null ? Thread.currentThread() : readAhead.thread;
  }

  /** Waits for the byte that is read ahead. Returns 1, or -1 at the end of the stream. */
  int takeByte(byte[] bytes, int offset) throws IOException {
    int count = readAhead.take(bytes, offset);
    readAhead = null;
    return count;
  }

  /** Returns how many bytes the next read can return without waiting. */
  int available() throws IOException {
    return readAhead == null ? transport.available() : readAhead.hasByte() ? 1 : 0;
  }

  /** Returns whether bytes have arrived that the conversation has not read. */
  boolean hasUnread() throws IOException {
    return readAhead == null ? transport.hasUnread() : readAhead.hasByte() || transport.hasUnreadInSocket();
  }

  /**
   * Reads one byte ahead of the conversation, on a fiber of its own, to notice that the client has
   * disconnected while its handler works. Until the byte is read, the fiber is the only thread that
   * reads the transport. The conversation's next read takes the byte, which hands the transport
   * back: the completion of the future happens before the return of {@link #take}.
   */
  private static final class ReadAhead implements Runnable {
    private final Transport transport;
    private final Thread thread;
    // null if there is no action, or it was taken by the thread that runs it
    private final AtomicReference<Runnable> onDisconnect = new AtomicReference<>();
    private final byte[] next = new byte[1];
    private final CompletableFuture<Integer> count = new CompletableFuture<>(); // 1, or -1 at the end of the stream

    private ReadAhead(Transport transport) {
      this.transport = transport;
      this.thread = Thread.ofVirtual().name("client " + transport.remoteAddress() + "/disconnect")
          .inheritInheritableThreadLocals(false).unstarted(this);
    }

    /** Starts the fiber. */
    static ReadAhead start(Transport transport) {
      var ahead = new ReadAhead(transport);
      ahead.thread.start();
      return ahead;
    }

    @Override
    public void run() {
      try {
        count.complete(transport.read(next, 0, 1));
      } catch (Throwable failure) {
        count.completeExceptionally(failure); // thrown by the conversation's next read
      }
      if (isDisconnected()) runAction();
    }

    /**
     * Runs the action if the stream ends, or has ended, before {@link #forget}. The action is set
     * before the future is checked, and the fiber completes the future before it takes the action.
     * So at least one of the two threads sees both, and the exchange of the reference lets only one
     * run the action.
     */
    void watch(Runnable action) {
      onDisconnect.set(action);
      if (isDisconnected()) runAction();
    }

    private void runAction() {
      var action = onDisconnect.getAndSet(null);
      if (action != null) action.run();
    }

    private boolean isDisconnected() {
      return count.isDone() && !hasByte();
    }

    /** Returns whether a byte was read that the conversation has not taken. */
    boolean hasByte() {
      return count.isDone() && !count.isCompletedExceptionally() && count.join() > 0;
    }

    /** Waits for the byte. Returns the number of bytes that it has put into the array, or -1. */
    int take(byte[] bytes, int offset) throws IOException {
      try {
        int read = count.join();
        if (read > 0) bytes[offset] = next[0];
        return read;
      } catch (CompletionException failure) {
        throw Throwables.<IOException>sneakyThrow(failure.getCause());
      }
    }

    /** Called when the exchange is over. An action that has not begun will not run. */
    void forget() {
      onDisconnect.set(null);
    }
  }
}
