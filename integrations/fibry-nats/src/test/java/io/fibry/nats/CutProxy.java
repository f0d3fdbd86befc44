package io.fibry.nats;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A proxy between a client and its server. While it is cut, it drops bytes without notice, and
 * connections stay open, as when a switch fails. {@link #mend} closes the connections, so that
 * clients connect again. Thread-safe.
 */
final class CutProxy implements AutoCloseable {
  /** The direction that is cut. */
  enum Cut {
    NOTHING, ALL, ANSWERS // bytes from the server
  }

  private final URI server;
  private final ServerSocket serverSocket;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile Cut cutDirection = Cut.NOTHING;

  private CutProxy(URI server, ServerSocket serverSocket) {
    this.server = server;
    this.serverSocket = serverSocket;
  }

  static CutProxy to(String url) throws IOException {
    var cable = new CutProxy(URI.create(url), new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    Thread.ofPlatform().daemon().name("cable").start(cable::accept);
    return cable;
  }

  /** {@return the URL to which clients connect} */
  String url() {
    return "nats://" + serverSocket.getInetAddress().getHostAddress() + ":" + serverSocket.getLocalPort();
  }

  void cut(Cut direction) {
    cutDirection = direction;
  }

  void mend() {
    cutDirection = Cut.NOTHING;
    closeAll();
  }

  private void accept() {
    while (!serverSocket.isClosed()) try {
      var client = serverSocket.accept();
      sockets.add(client);
      var upstream = new Socket(server.getHost(), server.getPort());
      sockets.add(upstream);
      carry(client, upstream, false);
      carry(upstream, client, true);
    } catch (IOException failure) { // this proxy is closed, or the server is unavailable
      closeAll();
    }
  }

  private void carry(Socket source, Socket target, boolean fromServer) {
    Thread.ofPlatform().daemon().name("cable").start(() -> {
      try (source; target; InputStream in = source.getInputStream(); OutputStream out = target.getOutputStream()) {
        var bytes = new byte[16 << 10];
        for (int length = in.read(bytes); length >= 0; length = in.read(bytes))
          if (cutDirection == Cut.NOTHING || cutDirection == Cut.ANSWERS && !fromServer) out.write(bytes, 0, length);
      } catch (IOException failure) { // the other side has closed the connection
        sockets.remove(source);
      }
    });
  }

  private void closeAll() {
    sockets.forEach(socket -> {
      try {
        socket.close();
      } catch (IOException failure) { // the socket was closed before
        sockets.remove(socket);
      }
    });
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    serverSocket.close();
    closeAll();
  }
}
