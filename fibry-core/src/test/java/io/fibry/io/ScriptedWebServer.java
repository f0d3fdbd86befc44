package io.fibry.io;

import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A web server whose responses a test defines. It serves one request per connection. */
final class ScriptedWebServer implements AutoCloseable {
  interface Page {
    void answer(String head, OutputStream out) throws Exception;
  }

  final List<String> requestHeads = new CopyOnWriteArrayList<>();
  final Set<Socket> openSockets = ConcurrentHashMap.newKeySet();
  private final ServerSocket serverSocket;
  private final Page page;
  private final Thread acceptor;

  ScriptedWebServer(Page page) {
    this.page = page;
    try {
      serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    acceptor = Thread.ofVirtual().start(this::accept);
  }

  /** Returns a server that sends the same response to each request. */
  static ScriptedWebServer respondingWith(String... lines) {
    return new ScriptedWebServer((head, out) -> out.write(String.join("\r\n", lines).getBytes(StandardCharsets.UTF_8)));
  }

  URI uri(String path) {
    return URI.create("http://" + serverSocket.getInetAddress().getHostAddress() + ":"
        + serverSocket.getLocalPort() + path);
  }

  private void accept() {
    while (!serverSocket.isClosed()) {
      try {
        var socket = serverSocket.accept();
        openSockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException socketClosed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      var head = new ArrayList<String>();
      for (var line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) head.add(line);
      if (head.isEmpty()) return;
      var text = String.join("\n", head);
      requestHeads.add(text);
      page.answer(text, socket.getOutputStream());
      socket.shutdownOutput();
      while (in.read() >= 0) {
      }
    } catch (Exception failure) {
      // the client or the test has closed the connection
    } finally {
      openSockets.remove(socket);
    }
  }

  /**
   * Closes the server. The acceptor may accept one more connection during the close, but the server
   * handles no request afterwards.
   */
  @Override
  public void close() {
    try {
      serverSocket.close();
      Patience.awaitEnd(acceptor);
      for (var socket : openSockets) socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
