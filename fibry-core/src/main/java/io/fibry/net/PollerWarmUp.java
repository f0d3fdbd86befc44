package io.fibry.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import org.slf4j.LoggerFactory;

/**
 * Starts the JDK's poller of sockets, by a virtual thread that blocks on a socket for a
 * millisecond. If no file descriptor is left when the first one blocks, none ever can.
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

  static void run() {}

  /** Not a lambda, which would wait for the class. */
  private static final class Block implements Runnable {
    @Override
    public void run() {
      try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        socket.setSoTimeout(1);
        socket.accept().close();
      } catch (SocketTimeoutException asPlanned) {} catch (IOException | LinkageError failure) {
        LoggerFactory.getLogger("io.fibry.net.TcpAcceptor")
            .warn("could not start the JDK's poller of sockets before it is needed: {}", failure.toString());
      }
    }
  }
}
