package io.fibry.net.socket;

import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/**
 * The server socket of a listener. One fiber accepts; any thread may shut the socket. After a
 * failure, which is logged, the fiber tries again after a growing pause, because a flood of clients
 * must not end the server.
 */
final class ListenerSocket {
  private static final long FIRST_PAUSE = 5; // ms
  private static final long MAX_PAUSE = 1_000; // ms

  private final ServerEndpoint endpoint;
  private final Logger log;
  private final LogThrottle throttle;
  private final CountDownLatch shutLatch = new CountDownLatch(1);
  private long pause = FIRST_PAUSE; // ms; used by the accepting fiber

  ListenerSocket(ListenerLimits limits, int port, Scheduler clock, Logger log) {
    PollerWarmUp.run();
    this.endpoint = bind(limits, port);
    this.log = log;
    this.throttle = new LogThrottle(clock);
  }

  /** Binds the endpoint that the limits name. */
  private static ServerEndpoint bind(ListenerLimits limits, int port) {
    int checkedPort = ListenerLimits.checkedPort(port);
    if (limits.unixSocket().isEmpty()) return PortEndpoint.bind(limits.sockets(), limits.address(), checkedPort);
    var file = limits.unixSocket().get();
    if (port != 0) throw new IllegalArgumentException(
        "a server listens on a port or on a file, but port " + port + " and the file " + file
            + " were given; give port 0 with withUnixSocket(..)");
    return UnixEndpoint.bind(file);
  }

  int port() {
    return endpoint.port();
  }

  String addressText() {
    return endpoint.addressText();
  }

  /** Waits for the next client. Returns null if the socket was shut. */
  Transport next(Object listener) {
    while (!isShut()) {
      try {
        Thread.interrupted(); // on CALLER a conversation may have left an interrupt, which would close the port
        return endpoint.accept();
      } catch (Throwable failure) {
        if (isShut() || endpoint.isClosed()) return null;
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
      endpoint.close();
    } catch (IOException failure) {
      log.debug("{} could not be closed", endpoint.addressText(), failure);
    }
  }
}
