package io.fibry.dashboard;

import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** An HTTP client that can send any header. */
final class Web implements AutoCloseable {
  private final Socket socket;
  private final BufferedReader lines;

  private Web(int port, String method, String path, String... headers) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout((int) Patience.LONG.toMillis());
    socket.getOutputStream().write((method + " " + path + " HTTP/1.1\r\n" + String.join("\r\n", headers) + "\r\n\r\n")
        .getBytes(StandardCharsets.UTF_8));
    lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Returns the response with its head. */
  static String response(int port, String method, String path, String... headers) throws IOException {
    var allHeaders = new String[headers.length + 1];
    System.arraycopy(headers, 0, allHeaders, 0, headers.length);
    allHeaders[headers.length] = "Connection: close";
    try (var web = new Web(port, method, path, allHeaders)) {
      var text = new StringBuilder();
      for (var line = web.lines.readLine(); line != null; line = web.lines.readLine()) text.append(line).append('\n');
      return text.toString();
    }
  }

  static String get(int port, String path) throws IOException {
    return response(port, "GET", path, "Host: localhost:" + port);
  }

  static Web events(int port) throws IOException {
    return new Web(port, "GET", "/events", "Host: localhost");
  }

  /** Returns the data of the next wanted event. */
  String event(Predicate<String> isWanted) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine())
      if (line.startsWith("data: ") && isWanted.test(line)) return line.substring(6);
    throw new IOException("the stream has ended");
  }

  boolean hasEnded() throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine())
      if (line.startsWith("data: ")) return false;
    return true;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
