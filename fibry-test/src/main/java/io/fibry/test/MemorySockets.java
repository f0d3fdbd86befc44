package io.fibry.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ServerSocketFactory;

/** Makes one server socket, which accepts the connections of this process. Thread-safe. */
final class MemorySockets extends ServerSocketFactory {
  private static final int PORT = 80; // not a port of the machine
  private static final int FIRST_CLIENT_PORT = 50_000;

  private final BlockingQueue<Socket> waiting = new LinkedBlockingQueue<>(); // connected, not yet accepted
  private int lastClientPort = FIRST_CLIENT_PORT; // guarded by this

  @Override
  public ServerSocket createServerSocket(int port) throws IOException {
    return createServerSocket(port, 0, InetAddress.getLoopbackAddress());
  }

  @Override
  public ServerSocket createServerSocket(int port, int backlog) throws IOException {
    return createServerSocket(port, backlog, InetAddress.getLoopbackAddress());
  }

  @Override
  public ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
    return new MemoryServerSocket(new NoPort(address));
  }

  /** The address of the server, which logs show. */
  private static final class NoPort extends InetSocketAddress {
    private static final long serialVersionUID = 1;

    NoPort(InetAddress address) {
      super(address, PORT);
    }

    @Override
    public String toString() {
      return "no port (test server)";
    }
  }

  /** Connects a client to the server. */
  MemoryConnection connect() {
    var toServer = new MemoryPipe();
    var toClient = new MemoryPipe();
    int clientPort;
    synchronized (this) {
      clientPort = ++lastClientPort;
    }
    waiting.add(new MemorySocket(clientPort, toServer, toClient));
    return new MemoryConnection(new MemorySocket(PORT, toClient, toServer), toServer, toClient);
  }

  /**
   * The client's side of a connection.
   *
   * @param toServer the bytes that the client sends
   * @param toClient the bytes that the server sends
   */
  record MemoryConnection(Socket socket, MemoryPipe toServer, MemoryPipe toClient) {}

  private final class MemoryServerSocket extends ServerSocket {
    private final InetSocketAddress address;
    private final Socket closeMark = new Socket(); // added when the server socket is closed
    private volatile boolean isClosed;

    MemoryServerSocket(InetSocketAddress address) throws IOException {
      this.address = address;
    }

    @Override
    public Socket accept() throws IOException {
      try {
        var socket = waiting.take();
        if (socket != closeMark) return socket;
        waiting.add(closeMark);
        throw new SocketException("the server socket is closed");
      } catch (InterruptedException interrupt) {
        throw new SocketException("the accepting thread was interrupted");
      }
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
      return address;
    }

    @Override
    public boolean isClosed() {
      return isClosed;
    }

    @Override
    public void close() {
      if (isClosed) return;
      isClosed = true;
      waiting.add(closeMark);
    }
  }
}
