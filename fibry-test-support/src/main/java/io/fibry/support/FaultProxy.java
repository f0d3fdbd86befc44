package io.fibry.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A TCP proxy between clients and their server, in which a test causes faults. Thread-safe. */
public final class FaultProxy implements AutoCloseable {
  /** Says what happens to bytes that arrive. Connections stay open in each mode. */
  public enum Mode {
    /** The proxy forwards bytes at once. */
    FORWARD,
    /** The proxy forwards bytes after a pause. */
    SLOW,
    /** Bytes wait until the mode changes, as they do at a paused server. */
    HOLD,
    /** The proxy drops bytes without notice, as a failed switch does. */
    DROP,
    /** The proxy drops the bytes of the server only. */
    DROP_ANSWERS;

    private boolean drops() {
      return this == DROP || this == DROP_ANSWERS;
    }
  }

  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(20); // ns; in mode SLOW, before each piece of bytes

  private final InetSocketAddress server;
  private final ServerSocket serverSocket;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private Mode mode = Mode.FORWARD; // guarded by this

  private FaultProxy(InetSocketAddress server, ServerSocket serverSocket) {
    this.server = server;
    this.serverSocket = serverSocket;
  }

  /** Starts a proxy of a server. */
  public static FaultProxy to(String host, int port) throws IOException {
    var proxy = new FaultProxy(new InetSocketAddress(host, port),
        new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    Thread.ofPlatform().daemon().name("proxy").start(proxy::accept);
    return proxy;
  }

  /** Starts a proxy of the NATS server with this URL. */
  public static FaultProxy to(String url) throws IOException {
    var server = URI.create(url);
    return to(server.getHost(), server.getPort());
  }

  /** {@return the port of the loopback address to which clients connect} */
  public int port() {
    return serverSocket.getLocalPort();
  }

  /** {@return the URL to which clients of NATS connect} */
  public String natsUrl() {
    return "nats://" + serverSocket.getInetAddress().getHostAddress() + ":" + port();
  }

  /**
   * Changes the mode. If the previous mode drops bytes, this closes all connections, because their
   * streams may have a gap.
   */
  public synchronized void set(Mode newMode) {
    if (mode.drops() && newMode != mode) {
      mode = Mode.HOLD; // no byte passes behind a gap
      closeConnections();
    }
    mode = newMode;
    notifyAll();
  }

  /** Closes all connections, so that clients connect again. */
  public void closeConnections() {
    for (var socket : sockets) { // a client may connect again meanwhile
      sockets.remove(socket);
      try {
        socket.close();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  private void accept() {
    while (!serverSocket.isClosed()) try {
      var client = serverSocket.accept();
      sockets.add(client);
      var upstream = new Socket(server.getAddress(), server.getPort());
      sockets.add(upstream);
      startForwarding(client, upstream, false);
      startForwarding(upstream, client, true);
    } catch (IOException failure) { // this proxy is closed, or the server is unavailable
      closeConnections();
    }
  }

  private void startForwarding(Socket source, Socket target, boolean isFromServer) {
    Thread.ofPlatform().daemon().name("proxy").start(() -> {
      try (source; target; InputStream in = source.getInputStream(); OutputStream out = target.getOutputStream()) {
        var bytes = new byte[16 << 10];
        for (int length = in.read(bytes); length >= 0; length = in.read(bytes))
          if (mayPass(isFromServer)) out.write(bytes, 0, length);
      } catch (IOException | InterruptedException failure) {
        // the other side has closed the connection
      } finally {
        sockets.remove(source);
      }
    });
  }

  /** Waits as the mode demands, and returns whether bytes from this side are forwarded. */
  private boolean mayPass(boolean isFromServer) throws InterruptedException {
    if (mode() == Mode.SLOW) LockSupport.parkNanos(PAUSE);
    synchronized (this) {
      while (mode == Mode.HOLD) wait();
      return !(mode == Mode.DROP || mode == Mode.DROP_ANSWERS && isFromServer);
    }
  }

  private synchronized Mode mode() {
    return mode;
  }

  @Override
  public void close() throws IOException {
    serverSocket.close();
    set(Mode.FORWARD); // ends the threads that hold bytes
    closeConnections();
  }
}
