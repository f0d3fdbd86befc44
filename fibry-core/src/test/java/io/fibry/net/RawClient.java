package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertFalse;

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

/** An HTTP client that may send any bytes. */
public final class RawClient implements AutoCloseable {
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}) [ -~]+\r\n");

  final Socket socket;

  public RawClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout((int) Patience.LONG.toMillis());
    socket.setTcpNoDelay(true);
  }

  public static String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  }

  public RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** Returns all bytes that the server sends until it closes the connection. */
  public String readToEnd() throws IOException {
    var bytes = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(bytes);
    } catch (java.net.SocketException reset) {
      if (bytes.size() == 0) return "";
    }
    return bytes.toString(StandardCharsets.ISO_8859_1);
  }

  /** Calls {@link #readToEnd} on another thread. */
  CompletableFuture<String> readToEndLater() {
    return Patience.callOnFiber(this::readToEnd);
  }

  /** Returns the next response, whose body has the length in Content-Length. */
  public String readResponse() throws IOException {
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

  /** Sends the bytes on a new connection, and returns all responses. */
  public static String sendAndReadAll(int port, String bytes) throws IOException {
    try (var client = new RawClient(port)) {
      try {
        client.send(bytes);
      } catch (IOException refusal) {
        // the server has closed, but its response may have arrived
      }
      return client.readToEnd();
    }
  }

  /**
   * Waits until the server has accepted all earlier connections, even of clients that have
   * disconnected. The server accepts connections in their order, so a response on a new connection
   * proves it.
   */
  static void awaitAcceptance(int port) throws IOException {
    assertFalse(sendAndReadAll(port, get("/none")).isEmpty(), "the server did not respond");
  }

  /** Returns the status codes of the responses, or "closed" if there are no responses. */
  public static String codes(String responses) {
    if (responses.isEmpty()) return "closed";
    List<String> codes = new ArrayList<>();
    var matcher = STATUS.matcher(responses);
    while (matcher.find()) codes.add(matcher.group(1));
    return String.join(" ", codes);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
