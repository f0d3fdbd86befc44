package io.fibry.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * The bytes between a client and this process: as they are, or through TLS. One thread reads; one
 * thread at a time writes and ends the output; any thread calls the other methods.
 */
interface Transport {

  /** The bytes that the link itself writes. */
  interface ControlWrite {
    void write() throws IOException;
  }

  /** Lets it write alone, and within the write limit. */
  interface WriteLock {
    void runExclusively(ControlWrite own) throws IOException;
  }

  /** {@link #handshake} does something. */
  boolean needsHandshake();

  /** Called first: negotiates with the other side. */
  void handshake() throws IOException;

  int read(byte[] bytes, int offset, int length) throws IOException;

  /** Bytes that {@link #read} gives without waiting. */
  int available() throws IOException;

  /** The number of bytes that have arrived and were not read, whether or not they are content. */
  long arrived() throws IOException;

  /** Whether the socket has bytes. Any thread may ask. */
  boolean hasArrived();

  /** Whether anything has come and was not read, also what is no content, or not whole yet. */
  boolean hasUnread() throws IOException;

  void write(byte[] bytes, int offset, int length) throws IOException;

  /** The current read, or the next one, finds the end of the stream. */
  void endInput();

  /** {@link #sendCloseNotify} does something. */
  boolean hasCloseNotify();

  /** Tells the client that nothing more comes, so that it can be sure. */
  void sendCloseNotify() throws IOException;

  /** Ends the output; later writes fail. */
  void endOutput() throws IOException;

  /** The close will be a reset: the client must not take it for an end. */
  void resetOnClose();

  /** Never waits. */
  void close();

  void enableKeepAlive();

  InetSocketAddress remoteAddress();

  /** Returns an empty value without TLS. */
  Optional<SSLSession> tls();
}
