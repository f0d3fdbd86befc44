package io.fibry.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;

/**
 * A port at which no socket listens and no other program can begin to listen, unlike a port that is
 * merely free.
 */
public final class RefusingPort implements AutoCloseable {
  private final Socket boundSocket = new Socket();

  public RefusingPort() {
    try {
      boundSocket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int number() {
    return boundSocket.getLocalPort();
  }

  public URI uri() {
    return URI.create("http://" + boundSocket.getLocalAddress().getHostAddress() + ":" + number() + "/");
  }

  @Override
  public void close() {
    try {
      boundSocket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
