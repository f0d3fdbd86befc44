package io.fibry.examples;

import io.fibry.ActorSystem;
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
 * A chat: each client is a conversation, and an actor to write to. A client too slow is cut off,
 * and holds nobody up.
 */
class ChatServer {
  private static final Topic<String> room = Topic.of(ActorSystem.named("room"));

  public static void main(String[] args) throws IOException {
    var chat = Stereotypes.fibers().tcpAcceptor(0, connection -> {
      var lines = connection.lines().iterator();
      if (!lines.hasNext()) return;
      var name = lines.next(); // the first line
      room.subscribe(connection.lineActor()); // forgotten when the connection ends
      room.publish(name + " has come");
      try {
        while (lines.hasNext()) room.publish(name + ": " + lines.next());
      } finally { // also for one that is cut off
        room.publish(name + " has left");
      }
    }, o -> o.withMaxConnections(10_000).withIdleLimit(Duration.ofMinutes(10)).withMaxUnsent(100_000));

    try (var ann = Client.of(chat.port(), "ann")) {
      System.out.println("ann sees: " + ann.in.readLine());
      try (var bob = Client.of(chat.port(), "bob")) {
        System.out.println("bob sees: " + bob.in.readLine() + "\nann sees: " + ann.in.readLine());
        ann.out.println("hello, bob");
        System.out.println("bob sees: " + bob.in.readLine() + "\nann sees: " + ann.in.readLine());
      }
      System.out.println("ann sees: " + ann.in.readLine());
      chat.connections().forEach(all -> all.lineActor().sendMessage("we close"));
      System.out.println("ann sees: " + ann.in.readLine());
    }
    chat.close();
  }

  private record Client(Socket socket, BufferedReader in, PrintWriter out) implements AutoCloseable {
    static Client of(int port, String name) throws IOException {
      var socket = new Socket(InetAddress.getLoopbackAddress(), port);
      var client = new Client(socket, new BufferedReader(new InputStreamReader(socket.getInputStream())),
          new PrintWriter(socket.getOutputStream(), true));
      client.out.println(name);
      return client;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
