package io.fibry.net.socket;

import java.io.IOException;

/**
 * The place at which a listener accepts clients: a port, or a file. One thread accepts; any thread
 * may close the endpoint, which ends the accept.
 */
interface ServerEndpoint {

  /** Waits for the next client. */
  Transport accept() throws IOException;

  /** Returns the address as a text for people. */
  String addressText();

  /** Returns the port on which the endpoint listens; 0 if it listens on a file. */
  int port();

  boolean isClosed();

  void close() throws IOException;
}
