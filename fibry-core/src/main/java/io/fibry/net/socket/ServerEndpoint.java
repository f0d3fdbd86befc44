package io.fibry.net.socket;

import java.io.IOException;

/**
 * The place at which a listener accepts clients: a port, or a file. One thread accepts; any thread
 * may close the endpoint, which ends the accept.
 */
interface ServerEndpoint {

  /** Binds the endpoint that the limits name. */
  static ServerEndpoint bind(ListenerLimits limits, int port) {
    int checkedPort = ListenerLimits.checkedPort(port);
    if (limits.unixSocket().isEmpty()) return PortEndpoint.bind(limits.sockets(), limits.address(), checkedPort);
    var file = limits.unixSocket().get();
    if (port != 0) throw new IllegalArgumentException(
        "a server listens on a port or on a file, but port " + port + " and the file " + file
            + " were given; give port 0 with withUnixSocket(..)");
    return UnixEndpoint.bind(file);
  }

  /** Waits for the next client. */
  Transport accept() throws IOException;

  /** Returns the address as a text for people. */
  String addressText();

  /** Returns the port on which the endpoint listens; 0 if it listens on a file. */
  int port();

  boolean isClosed();

  void close() throws IOException;
}
