package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.examples.web.Browser;
import io.fibry.examples.web.Terminal;
import io.fibry.net.HttpRoutes;
import io.fibry.net.TcpConnection;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;

/**
 * A chat with one room, which guests enter by TCP (lines of text) or by WebSockets. Each guest has
 * an actor; a guest who reads too slowly is disconnected.
 */
class Chat {
  private static final Topic<String> ROOM = Topic.open(ActorSystem.named("room"));

  public static void main(String[] args) throws Exception {
    var routes = HttpRoutes.none().webSocket("/chat/{name}",
        guest -> talk(guest.path("name"), guest.textActor(), guest.texts()), options -> options.withMaxUnsent(100_000));
    try (var web = Stereotypes.fibers().embeddedHttpServer(0, routes);
        var tcp = Stereotypes.fibers().tcpAcceptor(0, Chat::enter,
            options -> options.withIdleLimit(Duration.ofMinutes(10)).withMaxUnsent(100_000));
        var ann = new Terminal(tcp.port(), "ann")) {
      System.out.println("ann sees: " + ann.hear());
      try (var bob = new Browser("ws://localhost:" + web.port() + "/chat/bob")) {
        System.out.println("bob sees: " + bob.hear() + "\nann sees: " + ann.hear());
        ann.say("hello, bob");
        System.out.println("bob sees: " + bob.hear() + "\nann sees: " + ann.hear());
        bob.say("hello, ann");
        System.out.println("bob sees: " + bob.hear() + "\nann sees: " + ann.hear());
      }
      System.out.println("ann sees: " + ann.hear());
    }
  }

  private static void enter(TcpConnection guest) {
    var lines = guest.lines().iterator(); // the first line is the name
    if (lines.hasNext()) talk(lines.next(), guest.lineActor(), guest.lines());
  }

  private static void talk(String name, Actor<String> screen, Iterable<String> texts) {
    ROOM.subscribe(screen); // until the connection ends
    ROOM.publish(name + " has come");
    try {
      for (var text : texts) ROOM.publish(name + ": " + text);
    } finally { // also after a disconnect
      ROOM.publish(name + " has left");
    }
  }
}
