package io.fibry.examples;

import com.sun.net.httpserver.HttpExchange;
import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.examples.web.Browser;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.concurrent.Executors;
import robaho.net.httpserver.DefaultHttpServerProvider;
import robaho.net.httpserver.websockets.*;

/**
 * A chat over WebSockets, on a server that is not ours: what is said goes to a topic, and each
 * guest's screen is an actor. Two guests of its own show it.
 */
class WebSocketChat {
  private static final Topic<String> ROOM = Topic.of(ActorSystem.named("room"));

  public static void main(String[] args) throws Exception {
    java.util.logging.LogManager.getLogManager().reset(); // the server tells of each connection
    var server =
        new DefaultHttpServerProvider().createHttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/chat", new WebSocketHandler() {
      @Override
      protected WebSocket openWebSocket(HttpExchange exchange) { return new Guest(exchange); }
    });
    server.start();
    var address = "ws://localhost:" + server.getAddress().getPort() + "/chat?";
    try (var client = HttpClient.newHttpClient(); var ada = new Browser(client, URI.create(address + "Ada"))) {
      ada.hear(); // that she came
      try (var bob = new Browser(client, URI.create(address + "Bob"))) {
        System.out.println("Ada hears: " + ada.hear() + ", Bob hears: " + bob.hear());
        bob.say("hello");
        System.out.println("Ada hears: " + ada.hear() + ", Bob hears: " + bob.hear());
      }
    }
    server.stop(0);
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
      ROOM.subscribe(screen); // forgotten when the screen has ended
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
