package io.fibry.net.socket;

import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Starts the JDK's poller of sockets, by a virtual thread that blocks on a socket for a
 * millisecond. Otherwise the first thread that blocks on a socket would start the poller. If no
 * file descriptor were left at that moment, the poller could never be started.
 *
 * <p>Callers wait in {@link #run}, not in a static initializer: a fiber that waits while it
 * initializes a class holds its carrier.
 */
public final class PollerWarmUp {
  // bounded, because the warm-up cannot run while its caller holds the last carrier
  private static final long MAX_WAIT_SECONDS = 1;
  private static final AtomicBoolean STARTED = new AtomicBoolean();
  private static final CountDownLatch DONE = new CountDownLatch(1);

  private PollerWarmUp() {}

  public static void run() {
    if (STARTED.compareAndSet(false, true)) start();
    try {
      DONE.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  private static void start() {
    try {
      Thread.ofVirtual().inheritInheritableThreadLocals(false).start(PollerWarmUp::blockOnce);
    } catch (Throwable noThread) {
      STARTED.set(false);
      throw noThread;
    }
  }

  private static void blockOnce() {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      socket.setSoTimeout(1);
      socket.accept().close();
    } catch (SocketTimeoutException asPlanned) {} catch (IOException | LinkageError failure) {
      SafeLogger.of("io.fibry.net.TcpAcceptor")
          .warn("could not start the JDK's poller of sockets before it is needed: {}", Lines.thrown(failure));
    } finally {
      DONE.countDown();
    }
  }
}
