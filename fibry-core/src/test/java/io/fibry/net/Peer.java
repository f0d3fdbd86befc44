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

/** A TCP client for tests, which sends text or bytes and reads lines. */
public final class Peer implements AutoCloseable {
  public final Socket socket;
  private final BufferedReader in;

  public Peer(int port) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout((int) Patience.LONG.toMillis());
      socket.setTcpNoDelay(true);
      in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  public Peer send(String text) {
    return send(text.getBytes(StandardCharsets.UTF_8));
  }

  public Peer send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the next line, or null at the end of the stream. */
  public String readLine() {
    try {
      return in.readLine();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Reads to the end of the stream. */
  public String readToEnd() {
    try {
      var text = new StringBuilder();
      for (int value = in.read(); value >= 0; value = in.read()) text.append((char) value);
      return text.toString();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Waits until the server closes or resets the connection. */
  public void awaitClose() {
    try {
      while (in.read() >= 0);
    } catch (SocketException reset) {
      // a reset also closes the connection
    } catch (IOException stillOpen) {
      throw new UncheckedIOException("the connection is still open", stillOpen);
    }
  }

  /** Ends the output, while the input stays open. */
  public Peer endOutput() {
    try {
      socket.shutdownOutput();
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Resets the connection. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
