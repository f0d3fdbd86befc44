package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.flow.RateLimit;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
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
  void floodingClientSlowsDownToRateOfItsPublisher() {
    var clock = new ManualScheduler();
    var times = new CopyOnWriteArrayList<Long>(); // when the texts were published, in nanoseconds of the clock
    try (var scope = ActorSystem.openScope("chat", o -> o.withScheduler(clock))) {
      // @start region="limitedSender"
      Topic<String> room = Topic.open(scope.named("room"));
      var routes = HttpRoutes.none().webSocket("/chat", connection -> {
        room.subscribe(connection.textActor());
        var callers = scope.anonymous().strategy(Strategy.CALLER); // the thread that sends handles the message
        var publisher = RateLimit.around(callers, 20, Duration.ofSeconds(1)) // for each client a rate of its own
            .newActor((String text) -> room.publish(text));
        try (publisher) {
          for (var text : connection.texts()) publisher.sendMessage(text); // waits if more than 20 come in a second
        }
      });
      // @end
      room.subscribeOn(Runnable::run, text -> times.add(clock.nanoTime()));
      try (var server = HttpServer.open(scope.anonymous(), 0, routes, o -> o)) {
        long start = clock.nanoTime();
        var socket = client.newWebSocketBuilder()
            .buildAsync(URI.create("ws://localhost:" + server.port() + "/chat"), new WebSocket.Listener() {}).join();
        for (int i = 0; i < 60; i++) socket.sendText("flood", true).join();

        Patience.eventually(() -> {
          clock.advance(Duration.ofMillis(10));
          return times.size() == 60;
        });

        for (int i = 0; i < 60; i++)
          assertTrue(times.get(i) - start >= (i - 20) * 50_000_000L, i + " of " + times + " since " + start);
        socket.abort();
      }
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
