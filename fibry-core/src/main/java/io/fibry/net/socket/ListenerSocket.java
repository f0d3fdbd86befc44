package io.fibry.net.socket;

import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import org.slf4j.Logger;

/**
 * The server socket of a listener. One fiber accepts; any thread may shut the socket. After a
 * failure, which is logged, the fiber tries again after a growing pause, because a flood of clients
 * must not end the server.
 */
final class ListenerSocket {
  private static final int BACKLOG = 1024;
  private static final long FIRST_PAUSE = 5; // ms
  private static final long MAX_PAUSE = 1_000; // ms

  private final ServerSocket serverSocket;
  final InetSocketAddress address;
  private final Logger log;
  private final LogThrottle throttle;
  private final CountDownLatch shutLatch = new CountDownLatch(1);
  private long pause = FIRST_PAUSE; // ms; used by the accepting fiber

  ListenerSocket(ServerSocketFactory sockets, InetSocketAddress address, Scheduler clock, Logger log) {
    PollerWarmUp.run();
    this.serverSocket = bind(sockets, address);
    this.address = (InetSocketAddress) serverSocket.getLocalSocketAddress();
    this.log = log;
    this.throttle = new LogThrottle(clock);
  }

  private static ServerSocket bind(ServerSocketFactory sockets, InetSocketAddress address) {
    try {
      return sockets.createServerSocket(address.getPort(), BACKLOG, address.getAddress());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot listen on " + address + ": " + Lines.message(failure)
          + "; end the program that listens there, or give another port or address (port 0: any free port)", failure);
    }
  }

  /** Waits for the next client. Returns null if the socket was shut. */
  Socket next(Object listener) {
    while (!isShut()) {
      try {
        Thread.interrupted(); // on CALLER a conversation may have left an interrupt, which would close the port
        return serverSocket.accept();
      } catch (Throwable failure) {
        if (isShut() || serverSocket.isClosed()) return null;
        pauseAfterFailure(listener, "accept a client", failure);
      }
    }
    return null;
  }

  /**
   * Called when a conversation has begun. After the next failure the pause is the shortest again.
   */
  void resetPause() {
    pause = FIRST_PAUSE;
  }

  /** Logs a failure, at most once a minute, and waits before the next attempt. */
  void pauseAfterFailure(Object listener, String action, Throwable failure) {
    long count = throttle.countEvent();
    if (count > 0) log.warn("{} could not {} and tries again ({} such failures since the last line, which comes at "
        + "most once a minute): {}", listener, action, count, Lines.thrown(failure));
    try {
      shutLatch.await(pause, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
    pause = Math.min(MAX_PAUSE, 2 * pause);
  }

  boolean isShut() {
    return shutLatch.getCount() == 0;
  }

  void shut() {
    shutLatch.countDown();
    try {
      serverSocket.close();
    } catch (IOException failure) {
      log.debug("{} could not be closed", serverSocket, failure);
    }
  }
}
