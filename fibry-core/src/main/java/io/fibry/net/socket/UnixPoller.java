package io.fibry.net.socket;

import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Wakes the threads that wait for the clients of one {@link UnixEndpoint}. A daemon thread selects
 * the channels that are ready. The thread ends when the endpoint and all its connections are
 * closed.
 *
 * <p>A failure, such as an {@code OutOfMemoryError}, does not end the poller. After a short pause
 * the poller wakes all waiting threads, because the failure may have lost a wake-up. Each of them
 * tries its read or write again, and registers again if it must wait.
 */
final class UnixPoller implements Runnable, Consumer<SelectionKey> {
  /** Threads that wait for one channel. */
  interface Waiters {
    /** Wakes the threads that wait for these operations. Called by the poller. */
    void wake(int operations);

    void wakeBoth();
  }

  private static final Logger LOG = SafeLogger.of(UnixPoller.class);
  private static final long PAUSE = 10_000_000; // ns between a failure and the next attempt

  private final Selector selector;
  private int connections; // open connections; guarded by the monitor
  private boolean isEndpointClosed; // guarded by the monitor
  private boolean hasLogged; // used by the poller's thread

  /** Makes a poller without a thread. */
  UnixPoller(Selector selector) {
    this.selector = selector;
  }

  /** Starts the thread of a new poller. The text names the endpoint. */
  static UnixPoller start(String endpoint) throws IOException {
    var selector = Selector.open();
    try {
      var selectorThread = new UnixPoller(selector);
      Thread.ofPlatform().daemon().name("fibry-poller " + endpoint).inheritInheritableThreadLocals(false)
          .start(selectorThread);
      return selectorThread;
    } catch (Throwable failure) {
      selector.close();
      throw failure;
    }
  }

  /** Adds a channel that does not block. No thread waits for it yet. */
  synchronized SelectionKey register(SocketChannel channel, Waiters waiters) throws IOException {
    if (!selector.isOpen()) throw new IOException("the server has ended");
    var key = channel.register(selector, 0, waiters);
    connections++;
    return key;
  }

  /** Makes the poller see a changed interest. Any thread may call this method. */
  void wakeUp() {
    selector.wakeup();
  }

  /** Called once after the close of a channel. The poller releases its file descriptor. */
  void remove() {
    synchronized (this) {
      connections--;
    }
    selector.wakeup();
  }

  /** Makes the poller end after the last connection. */
  void endAfterConnections() {
    synchronized (this) {
      isEndpointClosed = true;
    }
    selector.wakeup();
  }

  /** Returns whether the poller has ended. */
  boolean hasEnded() {
    return !selector.isOpen();
  }

  @Override
  public void run() {
    boolean hasFailed = false;
    while (true) {
      try {
        if (hasFailed) wakeAll();
        hasFailed = false;
        if (endIfDone()) return;
        Thread.interrupted(); // an interrupt would end each wait at once
        selector.select(this);
      } catch (Throwable failure) {
        hasFailed = true;
        log(failure);
        LockSupport.parkNanos(PAUSE);
      }
    }
  }

  /**
   * Closes the selector if the endpoint and all connections are closed. The monitor excludes a
   * registration between the check and the close. The keys of the selector do not tell whether
   * connections are open: a selection may take the wake-up of a close and leave its key.
   */
  private synchronized boolean endIfDone() throws IOException {
    if (!isEndpointClosed || connections > 0) return false;
    selector.close();
    return true;
  }

  /** Wakes the threads that wait for a ready channel. Called by {@code select}. */
  @Override
  public void accept(SelectionKey key) {
    ((Waiters) key.attachment()).wake(key.readyOps());
  }

  private void wakeAll() {
    for (var key : selector.keys()) ((Waiters) key.attachment()).wakeBoth();
  }

  /** Logs the first failure only, because a failure may repeat a hundred times a second. */
  private void log(Throwable failure) {
    if (hasLogged) return;
    try {
      hasLogged = true;
      LOG.warn("'{}' failed and tries again; further failures are not logged: {}", Thread.currentThread().getName(),
          Lines.thrown(failure));
    } catch (Throwable unlogged) {} // without memory, or if the logger throws
  }
}
