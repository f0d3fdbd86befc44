package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.Peer;
import io.fibry.net.TcpAcceptor;
import io.fibry.pubsub.Topic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

/** Runs the snippets in the Javadoc of TCP. */
class TcpSnippetsTest {
  @Test
  void acceptorEchoesTextOfClient() throws IOException {
    // @start region="acceptor"
    try (var echo = TcpAcceptor.open(ActorSystem.named("echo"), 0,
        connection -> connection.inputStream().transferTo(connection.outputStream()),
        o -> o.withMaxConnections(100))) {
      assertEquals("hello", talk(echo.port(), "hello")); // a client connects, talks, and disconnects
    } // stops listening, and waits at most ten seconds until the clients have disconnected
    // @end
  }

  private static String talk(int port, String text) throws IOException {
    try (var peer = new Peer(port).send(text).endOutput()) {
      return peer.readToEnd();
    }
  }

  @Test
  void topicSendsPublishedLineToClient() {
    // @start region="connection"
    Topic<String> room = Topic.open(ActorSystem.anonymous());
    var chat = TcpAcceptor.open(ActorSystem.anonymous(), 0, connection -> {
      room.subscribe(connection.lineActor()); // forgotten when the connection ends
      try {
        for (var line : connection.lines()) room.publish(connection.remoteAddress().getPort() + ": " + line);
      } catch (UncheckedIOException connectionLost) {
        room.publish(connection.remoteAddress().getPort() + " was lost");
      }
    }, o -> o);
    // @end
    try (var peer = new Peer(chat.port()).send("hello\n")) {
      assertEquals(peer.socket.getLocalPort() + ": hello", peer.readLine());
    }
    chat.close();
  }

  @Test
  void acceptorWithOptionsSendsTextToClient() {
    // @start region="options"
    var acceptor = TcpAcceptor.open(ActorSystem.anonymous(), 0,
        connection -> connection.outputStream().write("bye\n".getBytes(StandardCharsets.UTF_8)), o -> o
            .withAddress(new InetSocketAddress(0).getAddress()) // all addresses, and not only the loopback address
            .withIdleLimit(Duration.ofMinutes(10))
            .withWriteLimit(Duration.ofMinutes(1))
            .withTotalLimit(ChronoUnit.FOREVER.getDuration())); // no limit
    // @end
    try (var peer = new Peer(acceptor.port())) {
      assertEquals("bye", peer.readLine());
    }
    acceptor.close();
  }
}
