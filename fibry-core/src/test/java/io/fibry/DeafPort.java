package io.fibry;

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
public final class DeafPort implements AutoCloseable {
  private final Socket holder = new Socket();

  public DeafPort() {
    try {
      holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
  }

  public int number() {
    return holder.getLocalPort();
  }

  public URI uri() {
    return URI.create("http://" + holder.getLocalAddress().getHostAddress() + ":" + number() + "/");
  }

  @Override
  public void close() {
    try {
      holder.close();
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
  }
}
