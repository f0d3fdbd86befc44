package io.fibry.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import org.slf4j.LoggerFactory;

/**
 * The JDK's poller of sockets, started. It starts itself when the first virtual thread blocks on a
 * socket; should the process have no file descriptor left just then, no virtual thread can block on
 * a socket ever after. So a virtual thread blocks on one for a millisecond before anything listens,
 * once in the life of the JVM.
 */
final class PollerWarmUp {
  private PollerWarmUp() {}

  static {
    var first = Thread.ofVirtual().inheritInheritableThreadLocals(false).unstarted(new Block());
    first.start();
    boolean interrupted = false;
    while (first.isAlive()) {
      try {
        first.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  /** Returns when it is done: a class is initialised once, and others wait. */
  static void up() {}

  /** A class of its own: the other one is not initialised until this has run. */
  private static final class Block implements Runnable {
    @Override
    public void run() {
      try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        socket.setSoTimeout(1);
        socket.accept().close();
      } catch (SocketTimeoutException asExpected) {
        // it has blocked
      } catch (IOException | LinkageError cold) {
        LoggerFactory.getLogger("io.fibry.net.TcpAcceptor")
            .warn("sockets could not be tried on a virtual thread before they are needed: {}", cold.toString());
      }
    }
  }
}
