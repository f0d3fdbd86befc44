package io.fibry.examples;

import io.fibry.net.TcpConnection;
import io.fibry.stereotype.Stereotypes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A hand-written web server, with an actor per connection. With a port as argument, it serves until
 * it is stopped, for example for {@code ab} or {@code wrk}.
 */
class TcpHello {
  private static final byte[] RESPONSE =
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
      int character = in.read();
      // the client has left
      if (character < 0) return;
      if (character == '\n') lineFeeds++;
      else if (character != '\r') lineFeeds = 0;
    }
    connection.outputStream().write(RESPONSE);
  }

  private static String ask(int port) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      var response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return response.substring(response.indexOf("\r\n\r\n") + 4);
    }
  }
}
