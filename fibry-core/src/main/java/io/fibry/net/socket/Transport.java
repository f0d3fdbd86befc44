package io.fibry.net.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * Transfers the bytes between a client and this process, plainly or through TLS. One thread calls
 * {@link #read}, {@link #available}, {@link #arrivedBytes} and {@link #hasUnread}. One thread at a
 * time writes and ends the output. Any thread may call the other methods. The default methods suit
 * a transport without TLS.
 */
interface Transport {

  /** Writes bytes of the transport itself, such as an alert of TLS. */
  interface ControlWrite {
    void write() throws IOException;
  }

  /** Runs a write within the write limit, while no other thread writes. */
  interface WriteLock {
    void runExclusively(ControlWrite write) throws IOException;
  }

  /** Returns whether {@link #handshake} does anything. */
  default boolean needsHandshake() {
    return false;
  }

  /** Negotiates with the other side. Called before all reads and writes. */
  default void handshake() throws IOException {}

  int read(byte[] bytes, int offset, int length) throws IOException;

  /** Returns how many bytes {@link #read} can return without waiting. */
  int available() throws IOException;

  /** Returns how many bytes have arrived and were not read, including bytes of TLS itself. */
  long arrivedBytes() throws IOException;

  /** Returns whether the socket has bytes that were not read. Any thread may call this method. */
  boolean hasUnreadInSocket();

  /**
   * Returns whether bytes have arrived and were not read, even if they are bytes of TLS itself or
   * an incomplete record.
   */
  boolean hasUnread() throws IOException;

  void write(byte[] bytes, int offset, int length) throws IOException;

  /** Makes the current read, or the next read, find the end of the stream. */
  void endInput();

  /** Returns whether {@link #sendCloseNotify} does anything. */
  default boolean hasCloseNotify() {
    return false;
  }

  /** Tells the client, in a way that an attacker cannot forge, that no more bytes follow. */
  default void sendCloseNotify() throws IOException {}

  /** Ends the output; later writes fail. */
  void endOutput() throws IOException;

  /**
   * Makes a later close send a reset, which the client cannot mistake for the end of the stream.
   */
  void resetOnClose();

  /** Closes the connection. Never waits. */
  void close();

  void enableKeepAlive();

  InetSocketAddress remoteAddress();

  /** Returns the TLS session; empty without TLS. */
  default Optional<SSLSession> tls() {
    return Optional.empty();
  }
}
