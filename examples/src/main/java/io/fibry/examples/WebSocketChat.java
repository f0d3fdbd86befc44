package io.fibry.examples;

import com.sun.net.httpserver.HttpExchange;
import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.examples.web.Browser;
import io.fibry.examples.web.WebSocketServer;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import java.net.http.HttpClient;
import robaho.net.httpserver.websockets.*;

/** A chat on a third-party WebSocket server. Each guest's screen is an actor. */
class WebSocketChat {
  private static final Topic<String> ROOM = Topic.of(ActorSystem.named("room"));

  public static void main(String[] args) throws Exception {
    try (var server = new WebSocketServer(Guest::new);
        var client = HttpClient.newHttpClient();
        var ada = new Browser(client, server.address("Ada"))) {
      ada.hear(); // her own arrival
      try (var bob = new Browser(client, server.address("Bob"))) {
        System.out.println("Ada hears: " + ada.hear() + ", Bob hears: " + bob.hear());
        bob.say("hello");
        System.out.println("Ada hears: " + ada.hear() + ", Bob hears: " + bob.hear());
      }
    }
  }

  private static final class Guest extends WebSocket {
    private final String name;
    private final Actor<String> screen = ActorSystem.anonymous().mailbox(Mailbox.bounded(100, Overflow.DROP_OLDEST))
        .onFailure(FailurePolicy.stop().withoutLog()).newActor((String line) -> send(line));

    Guest(HttpExchange exchange) {
      super(exchange);
      name = exchange.getRequestURI().getQuery();
    }

    @Override
    protected void onOpen() {
      ROOM.subscribe(screen); // until the screen ends
      ROOM.publish(name + " came");
    }
    @Override
    protected void onMessage(WebSocketFrame said) { ROOM.publish(name + ": " + said.getTextPayload()); }
    @Override
    protected void onClose(CloseCode code, String reason, boolean byGuest) { screen.askExit(); }
    @Override
    protected void onPong(WebSocketFrame pong) {}
  }
}
