package io.fibry.net;

import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A client of a TCP server. */
public final class Peer implements AutoCloseable {
  public final Socket socket;
  private final BufferedReader in;

  public Peer(int port) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout((int) Patience.LONG.toMillis());
      socket.setTcpNoDelay(true);
      in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    } catch (IOException unreachable) {
      throw new UncheckedIOException(unreachable);
    }
  }

  public Peer send(String text) {
    return send(text.getBytes(StandardCharsets.UTF_8));
  }

  public Peer send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  /** Returns null at the end of the stream. */
  public String line() {
    try {
      return in.readLine();
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  /** Reads to the end of the stream. */
  public String rest() {
    try {
      var all = new StringBuilder();
      for (int one = in.read(); one >= 0; one = in.read()) all.append((char) one);
      return all.toString();
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  /** Waits for a close or reset. */
  public void closed() {
    try {
      while (in.read() >= 0);
    } catch (SocketException reset) {
      // a reset
    } catch (IOException open) {
      throw new UncheckedIOException("it is still open", open);
    }
  }

  /** Half-closes. */
  public Peer end() {
    try {
      socket.shutdownOutput();
      return this;
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  /** Closes by a reset. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }
}
