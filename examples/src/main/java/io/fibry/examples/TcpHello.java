package io.fibry.examples;

import io.fibry.net.TcpConnection;
import io.fibry.stereotype.Stereotypes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A web server by hand, with an actor per connection. Given a port, it serves there, for {@code ab}
 * or {@code wrk}.
 */
class TcpHello {
  private static final byte[] ANSWER =
      "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nHello!".getBytes(StandardCharsets.US_ASCII);

  public static void main(String[] args) throws IOException {
    var server =
        Stereotypes.def().tcpAcceptorSilent(args.length > 0 ? Integer.parseInt(args[0]) : 0, TcpHello::hello, null);
    if (args.length > 0) server.waitForExit();
    for (int i = 0; i < 3; i++) System.out.println(ask(server.port()));
    server.close();
  }

  private static void hello(TcpConnection connection) throws IOException {
    var in = connection.inputStream(); // buffered
    for (int lineFeeds = 0; lineFeeds < 2;) {
      int one = in.read();
      // the client has left
      if (one < 0) return;
      if (one == '\n') lineFeeds++;
      else if (one != '\r') lineFeeds = 0;
    }
    connection.outputStream().write(ANSWER);
  }

  private static String ask(int port) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      var answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }
  }
}
