package io.fibry.net.socket;

import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import javax.net.ServerSocketFactory;

/** A port of this machine. */
final class PortEndpoint implements ServerEndpoint {
  private static final int BACKLOG = 1024;

  private final ServerSocket socket;
  private final InetSocketAddress address;

  private PortEndpoint(ServerSocket socket) {
    this.socket = socket;
    this.address = (InetSocketAddress) socket.getLocalSocketAddress();
  }

  static PortEndpoint bind(ServerSocketFactory sockets, InetAddress address, int port) {
    try {
      return new PortEndpoint(sockets.createServerSocket(port, BACKLOG, address));
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot listen on " + new InetSocketAddress(address, port) + ": "
          + Lines.message(failure)
          + "; end the program that listens there, or give another port or address (port 0: any free port)", failure);
    }
  }

  @Override
  public Transport accept() throws IOException {
    var client = socket.accept();
    try {
      return new PlainTransport(client);
    } catch (Throwable failure) {
      PlainTransport.close(client);
      throw failure;
    }
  }

  @Override
  public String addressText() {
    return address.toString();
  }

  @Override
  public int port() {
    return address.getPort();
  }

  @Override
  public boolean isClosed() {
    return socket.isClosed();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
