package io.fibry.net;

import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/**
 * The port of a listener. One fiber accepts; any thread shuts it. A failure is logged, and tried
 * again after a growing pause: a flood must not end the server.
 */
final class ListenerSocket {
  private static final int BACKLOG = 1024;
  private static final long FIRST_PAUSE = 5; // ms
  private static final long LONGEST_PAUSE = 1_000; // ms

  private final ServerSocket server;
  final InetSocketAddress address;
  private final Logger log;
  private final LogThrottle failures;
  private final CountDownLatch shut = new CountDownLatch(1);
  private long pause = FIRST_PAUSE; // of the accepting fiber

  ListenerSocket(InetSocketAddress address, Scheduler clock, Logger log) {
    PollerWarmUp.run();
    this.server = bound(address);
    this.address = (InetSocketAddress) server.getLocalSocketAddress();
    this.log = log;
    this.failures = new LogThrottle(clock);
  }

  private static ServerSocket bound(InetSocketAddress address) {
    try {
      return new ServerSocket(address.getPort(), BACKLOG, address.getAddress());
    } catch (IOException taken) {
      throw new UncheckedIOException("cannot listen on " + address + ": " + Lines.message(taken)
          + "; end what listens there, or give another port or address (port 0: any free port)", taken);
    }
  }

  /** Waits for the next client. Returns null if the port is shut. */
  Socket next(Object listener) {
    while (!isShut()) {
      try {
        Thread.interrupted(); // on CALLER it comes from a conversation, and would close the port
        return server.accept();
      } catch (Throwable failure) {
        if (isShut() || server.isClosed()) return null;
        failed(listener, "accept a client", failure);
      }
    }
    return null;
  }

  /** A conversation has begun. */
  void succeeded() {
    pause = FIRST_PAUSE;
  }

  void failed(Object listener, String what, Throwable failure) {
    long number = failures.count();
    if (number > 0) log.warn("{} could not {} and tries again ({} such failures since the last line, which comes at "
        + "most once a minute): {}", listener, what, number, Lines.thrown(failure));
    try {
      shut.await(pause, TimeUnit.MILLISECONDS);
    } catch (InterruptedException none) {
      Thread.currentThread().interrupt();
    }
    pause = Math.min(LONGEST_PAUSE, 2 * pause);
  }

  boolean isShut() {
    return shut.getCount() == 0;
  }

  void shut() {
    shut.countDown();
    try {
      server.close();
    } catch (IOException gone) {
      log.debug("{} could not be closed", server, gone);
    }
  }
}
