package io.fibry.net.socket;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Transfers the bytes of a socket without encryption. */
public final class PlainTransport implements Transport {
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  PlainTransport(Socket socket) throws IOException {
    this.socket = socket;
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
    try {
      socket.setTcpNoDelay(true);
    } catch (IOException firstReadFails) {}
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return in.read(bytes, offset, length);
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public long arrivedBytes() throws IOException {
    return in.available();
  }

  @Override
  public boolean hasUnreadInSocket() {
    try {
      return in.available() > 0;
    } catch (IOException closed) {
      return false;
    }
  }

  @Override
  public boolean hasUnread() throws IOException {
    return in.available() > 0;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
  }

  @Override
  public void endInput() {
    try {
      socket.shutdownInput();
    } catch (IOException readFails) {}
  }

  @Override
  public void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  @Override
  public void resetOnClose() {
    resetOnClose(socket);
  }

  static void resetOnClose(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException closedAlready) {}
  }

  @Override
  public void close() {
    close(socket);
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException closedAnyway) {}
  }

  @Override
  public void enableKeepAlive() {
    TcpKeepAlive.enable(socket);
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return (InetSocketAddress) socket.getRemoteSocketAddress();
  }
}
