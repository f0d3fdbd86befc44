package io.fibry.net;

import io.fibry.support.Patience;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/** A client that sends any bytes. */
final class RawClient implements AutoCloseable {
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}) [ -~]+\r\n");

  final Socket socket;

  RawClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout((int) Patience.LONG.toMillis());
    socket.setTcpNoDelay(true);
  }

  static String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  }

  RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** All until the server closes. */
  String all() throws IOException {
    var all = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(all);
    } catch (java.net.SocketException reset) {
      if (all.size() == 0) return "";
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }

  /** Reads it on another thread. */
  CompletableFuture<String> allLater() {
    var all = new CompletableFuture<String>();
    Patience.startFiber(() -> {
      try {
        all.complete(all());
      } catch (IOException failure) {
        all.completeExceptionally(failure);
      }
    });
    return all;
  }

  /** One answer, by its Content-Length. */
  String one() throws IOException {
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int c = socket.getInputStream().read();
      if (c < 0) return head.toString();
      head.append((char) c);
    }
    var length = Pattern.compile("Content-Length: (\\d+)").matcher(head);
    int body = length.find() ? Integer.parseInt(length.group(1)) : 0;
    return head + new String(socket.getInputStream().readNBytes(body), StandardCharsets.ISO_8859_1);
  }

  /** All answers to these bytes. */
  static String talk(int port, String bytes) throws IOException {
    try (var client = new RawClient(port)) {
      try {
        client.send(bytes);
      } catch (IOException refused) {
        // the answer may have come
      }
      return client.all();
    }
  }

  /** Returns the status codes, or "closed" if there are none. */
  static String codes(String answer) {
    if (answer.isEmpty()) return "closed";
    List<String> codes = new ArrayList<>();
    var found = STATUS.matcher(answer);
    while (found.find()) codes.add(found.group(1));
    return String.join(" ", codes);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
