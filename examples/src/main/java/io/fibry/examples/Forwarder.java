package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Forwards a TCP port in both directions, with limits, as fast as the slower side reads. */
class Forwarder {
  public static void main(String[] args) throws IOException {
    var loopback = InetAddress.getLoopbackAddress();
    var target = Stereotypes.fibers().tcpAcceptor(0, connection -> {
      // reads until the client ends its output; the forwarder passes this end on
      var text = new String(connection.inputStream().readAllBytes(), StandardCharsets.UTF_8);
      connection.outputStream().write(text.toUpperCase().getBytes(StandardCharsets.UTF_8));
    });
    var forwarder = Stereotypes.fibers().tcpForwarder(0, new InetSocketAddress(loopback, target.port()),
        options -> options.withMaxConnections(100).withIdleLimit(Duration.ofMinutes(5)));

    for (var question : new String[] {"who is there?", "and now?"}) {
      try (var socket = new Socket(loopback, forwarder.port())) {
        socket.getOutputStream().write(question.getBytes(StandardCharsets.UTF_8));
        socket.shutdownOutput();
        System.out.println(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      }
    }

    forwarder.close();
    target.close();
    System.out.println(forwarder.toString().replaceAll(".*\\((.*)\\).*", "$1"));
  }
}
