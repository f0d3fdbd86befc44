package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.net.TcpConnection;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;

/**
 * A chat over TCP, with an actor for each client. A client that reads too slowly is disconnected.
 */
class ChatServer {
  private static final Topic<String> ROOM = Topic.of(ActorSystem.named("room"));

  public static void main(String[] args) throws IOException {
    try (var chat = Stereotypes.fibers().tcpAcceptor(0, ChatServer::serve,
        o -> o.withMaxConnections(10_000).withIdleLimit(Duration.ofMinutes(10)).withMaxUnsent(100_000));
        var ann = new Client(chat.port(), "ann")) {
      System.out.println("ann sees: " + ann.in.readLine());
      try (var bob = new Client(chat.port(), "bob")) {
        System.out.println("bob sees: " + bob.in.readLine() + "\nann sees: " + ann.in.readLine());
        ann.out.println("hello, bob");
        System.out.println("bob sees: " + bob.in.readLine() + "\nann sees: " + ann.in.readLine());
      }
      System.out.println("ann sees: " + ann.in.readLine());
      chat.connections().forEach(all -> all.lineActor().sendMessage("we close"));
      System.out.println("ann sees: " + ann.in.readLine());
    }
  }

  private static void serve(TcpConnection connection) {
    var lines = connection.lines().iterator();
    if (!lines.hasNext()) return;
    var name = lines.next();
    ROOM.subscribe(connection.lineActor()); // until the connection ends
    ROOM.publish(name + " has come");
    try {
      while (lines.hasNext()) ROOM.publish(name + ": " + lines.next());
    } finally { // also after a disconnect
      ROOM.publish(name + " has left");
    }
  }

  private static final class Client extends Socket {
    private final BufferedReader in = new BufferedReader(new InputStreamReader(getInputStream()));
    private final PrintWriter out = new PrintWriter(getOutputStream(), true);

    Client(int port, String name) throws IOException {
      super(InetAddress.getLoopbackAddress(), port);
      out.println(name);
    }
  }
}
