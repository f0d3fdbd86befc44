package io.fibry.net;

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
 * A port where clients come in. Whoever takes them is one fiber; anybody may shut it. A failure to
 * accept passes, or there would be no server after a flood: it is counted, and tried again after a
 * pause, which grows.
 */
final class ListenerSocket {
  private static final int BACKLOG = 1024;
  private static final long FIRST_PAUSE = 5; // ms
  private static final long LONGEST_PAUSE = 1_000; // ms

  private final ServerSocket server;
  private final InetSocketAddress address;
  private final Logger log;
  private final LogThrottle failures;
  private final CountDownLatch shut = new CountDownLatch(1);
  private long pause = FIRST_PAUSE; // the accepting fiber's

  ListenerSocket(InetSocketAddress address, Scheduler clock, Logger log) {
    PollerWarmUp.up();
    this.server = bound(address);
    this.address = (InetSocketAddress) server.getLocalSocketAddress();
    this.log = log;
    this.failures = new LogThrottle(clock);
  }

  private static ServerSocket bound(InetSocketAddress address) {
    ServerSocket server = null;
    try {
      server = new ServerSocket();
      server.bind(address, BACKLOG);
      return server;
    } catch (IOException taken) {
      if (server != null) close(server, taken);
      throw new UncheckedIOException(
          "cannot listen on " + address + ": " + taken.getMessage()
              + "; end what listens there already, or choose another port or address (port 0: any that is free)",
          taken);
    }
  }

  private static void close(ServerSocket server, IOException because) {
    try {
      server.close();
    } catch (IOException alsoThis) {
      because.addSuppressed(alsoThis);
    }
  }

  InetSocketAddress address() {
    return address;
  }

  /** Waits for the next client. Null: it is shut. */
  Socket next(Object who) {
    while (!isShut()) {
      try {
        // on CALLER it is the conversations' thread too; an interrupt would close the port
        Thread.interrupted();
        return server.accept();
      } catch (Throwable failure) {
        if (isShut() || server.isClosed()) return null;
        failed(who, "accept a client", failure);
      }
    }
    return null;
  }

  /** A client was given its conversation: what failed before has passed. */
  void succeeded() {
    pause = FIRST_PAUSE;
  }

  /** Says so, but not always, and pauses. */
  void failed(Object who, String what, Throwable failure) {
    long told = failures.count();
    if (told > 0) log.warn(
        "{} could not {}, and tries again ({} such failures since this was last said, at most once a minute): {}", who,
        what, told, failure.toString());
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
