package io.fibry.dashboard;

import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** A client that may send any header. */
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

  /** Its answer, with head. */
  static String answer(int port, String method, String path, String... headers) throws IOException {
    var all = new String[headers.length + 1];
    System.arraycopy(headers, 0, all, 0, headers.length);
    all[headers.length] = "Connection: close";
    try (var web = new Web(port, method, path, all)) {
      var text = new StringBuilder();
      for (var line = web.lines.readLine(); line != null; line = web.lines.readLine()) text.append(line).append('\n');
      return text.toString();
    }
  }

  static String get(int port, String path) throws IOException {
    return answer(port, "GET", path, "Host: localhost:" + port);
  }

  static Web events(int port) throws IOException {
    return new Web(port, "GET", "/events", "Host: localhost");
  }

  /** The data of the next event for which it holds. */
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
