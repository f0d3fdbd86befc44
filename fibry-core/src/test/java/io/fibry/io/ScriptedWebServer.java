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

/** A web server that sends the answers of a test, with one request per connection. */
final class ScriptedWebServer implements AutoCloseable {
  interface Page {
    void answer(String head, OutputStream out) throws Exception;
  }

  final List<String> heads = new CopyOnWriteArrayList<>(); // of the requests
  final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final ServerSocket listening;
  private final Page page;
  private final Thread accepting;

  ScriptedWebServer(Page page) {
    this.page = page;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
    accepting = Thread.ofVirtual().start(this::accept);
  }

  /** Sends the same answer to each request. */
  static ScriptedWebServer saying(String... lines) {
    return new ScriptedWebServer((head, out) -> out.write(String.join("\r\n", lines).getBytes(StandardCharsets.UTF_8)));
  }

  URI uri(String path) {
    return URI.create("http://" + listening.getInetAddress().getHostAddress() + ":" + listening.getLocalPort() + path);
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        var socket = listening.accept();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException closed) {
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
      heads.add(text);
      page.answer(text, socket.getOutputStream());
      socket.shutdownOutput();
      while (in.read() >= 0) {
      }
    } catch (Exception gone) {
      // client or test
    } finally {
      open.remove(socket);
    }
  }

  /**
   * No request is served after it: a virtual thread may accept one more connection after the close.
   */
  @Override
  public void close() {
    try {
      listening.close();
      Patience.joined(accepting);
      for (var socket : open) socket.close();
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
  }
}
