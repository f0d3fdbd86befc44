package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs the snippets in the Javadoc of WebSockets. */
class WebSocketSnippetsTest {
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.shutdownNow();
  }

  private void assertReceives(String expected, HttpServer server) {
    var firstText = new CompletableFuture<String>();
    var socket = client.newWebSocketBuilder()
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/chat"), new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
            firstText.complete(text.toString());
            return null;
          }
        }).join();
    socket.sendText("hello", true).join();
    assertEquals(expected, Patience.value(firstText));
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
  }

  @Test
  void topicSendsPublishedTextToWebSocketClient() {
    // @start region="connection"
    Topic<String> room = Topic.open(ActorSystem.named("room"));
    var routes = HttpRoutes.none().webSocket("/chat", connection -> {
      room.subscribe(connection.textActor()); // sends each message to the client as a text
      for (var text : connection.texts()) room.publish(text); // ends when the client closes
    });
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes).closeOnExit(room)) {
      assertReceives("hello", server);
    }
  }

  @Test
  void clientWithoutUnsentBytesGetsUpdateUntilItLeaves() {
    // @start region="unsent"
    Topic<String> prices = Topic.open(ActorSystem.named("prices"));
    var routes = HttpRoutes.none().webSocket("/chat", connection -> {
      var client = connection.textActor();
      var updates = prices.subscribeOn(Runnable::run, price -> { // a client that reads slowly misses some prices
        if (connection.unsentBytes() == 0) client.sendMessage(price);
      });
      try {
        for (var price : connection.texts()) prices.publish(price);
      } finally {
        updates.close(); // this subscription does not end with the client
      }
    });
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes).closeOnExit(prices)) {
      assertReceives("hello", server);
      Patience.eventually(() -> prices.stats().subscribers() == 0);
    }
  }

  @Test
  void webSocketWithOptionsRespondsToText() {
    // @start region="options"
    var routes = HttpRoutes.none().webSocket("/chat", connection -> {
      for (var text : connection.texts()) connection.textActor().sendMessage("you said: " + text);
    }, o -> o.withMaxMessage(10_000).withIdleLimit(Duration.ofMinutes(5)).withOrigins("https://shop.example"));
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes)) {
      assertReceives("you said: hello", server);
    }
  }
}
