package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the actor whose messages a server sends to its client as events. */
@SuppressWarnings("try") // some actors are not closed by the method that creates them
class ServerSentEventsTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("events", o -> o.withScheduler(clock));
  private final CompletableFuture<Actor<String>> eventActor = new CompletableFuture<>();
  private final CompletableFuture<Void> handlerReturned = new CompletableFuture<>();
  private HttpServer server;

  private void open(String strategy) {
    server = HttpServer.open(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 0,
        HttpRoutes.none().stream("/", exchange -> {
          eventActor.complete(exchange.eventActor());
          assertSame(eventActor.join(), exchange.eventActor());
          eventActor.join().waitForExit();
          handlerReturned.complete(null);
        }), o -> o);
  }

  private RawClient subscribe() throws IOException {
    return new RawClient(server.port()).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  }

  private static String lines(RawClient client, int count) throws IOException {
    var lines = new StringBuilder();
    while (lines.chars().filter(c -> c == '\n').count() < count) {
      int c = client.socket.getInputStream().read();
      if (c < 0) break;
      lines.append((char) c);
    }
    return lines.toString();
  }

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  @AfterEach
  void close() {
    server.kill();
    scope.close();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void messageIsSentImmediatelyAsEvent(String strategy) throws IOException {
    open(strategy);
    try (var client = subscribe()) {
      var actor = Patience.value(eventActor);

      actor.sendMessage("one");
      actor.sendMessage("two\nlines\r\nand\rmore\n");

      var head = lines(client, 6);
      assertTrue(
          head.startsWith("HTTP/1.1 200 OK\r\n") && head
              .contains("\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n"),
          head);
      assertEquals("data: one\n\ndata: two\ndata: lines\ndata: and\ndata: more\ndata: \n\n", lines(client, 8));

      actor.sendMessage("last");
      actor.sendPoisonPill();

      assertEquals("data: last\n\n", client.readToEnd());
      Patience.value(handlerReturned);
    }
  }

  @Test
  void idleStreamDetectsDisconnectedClient() throws IOException {
    open("FIBER");
    var client = subscribe();
    var actor = Patience.value(eventActor);
    lines(client, 6);

    clock.advance(Duration.ofSeconds(15));
    assertEquals(":\n\n", lines(client, 2));
    client.close();

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(15));
      return actor.onExit().isDone();
    });
    Patience.value(handlerReturned);
  }

  @Promise("27.10")
  @Test
  void topicRemovesDisconnectedClient() throws IOException {
    Topic<String> news = Topic.open(scope.anonymous());
    open("FIBER");
    try (var client = subscribe()) {
      var subscription = news.subscribe(Patience.value(eventActor));
      news.publish("hello");
      lines(client, 6);
      assertEquals("data: hello\n\n", lines(client, 2));
      client.socket.setSoLinger(true, 0);
      client.close();

      Patience.eventually(() -> {
        news.publish("anybody there?");
        LockSupport.parkNanos(1_000_000);
        return eventActor.join().onExit().isDone();
      });
      subscription.close();
    }
  }

  @Promise("27.10")
  @Test
  void clientThatDoesNotReadIsCutOffWithoutBlockingSenders() throws IOException {
    open("FIBER");
    try (var client = subscribe()) {
      var actor = Patience.value(eventActor);
      var event = "x".repeat(100_000);

      int sent = 0;
      while (actor.sendMessage(event)) assertTrue(++sent < 100_000, "the client is not cut off");

      Patience.awaitEnd(actor::waitForExit);
      Patience.value(handlerReturned);
      assertFalse(client.readToEnd().isEmpty());
    }
  }

  @Test
  void endOfServerEndsStreamAfterSentEvents() throws IOException {
    open("FIBER");
    try (var client = subscribe()) {
      Patience.value(eventActor).sendMessage("last");

      server.close(); // a wait for the drain limit would hang, because the clock does not advance

      assertTrue(client.readToEnd().endsWith("data: last\n\n"));
      assertTrue(handlerReturned.isDone());
    }
  }

  @Test
  void streamEndsWhenItsHandlerReturns() throws IOException {
    server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().stream("/", exchange -> {
      exchange.eventActor().sendMessage("hello");
      eventActor.complete(exchange.eventActor());
    }).stream("/late", exchange -> {
      exchange.outputStream().flush();
      assertThrows(IllegalStateException.class, exchange::eventActor);
    }), o -> o);
    try (var client = subscribe()) {
      assertTrue(client.readToEnd().endsWith("data: hello\n\n"));
      Patience.awaitEnd(Patience.value(eventActor)::waitForExit);
      assertEquals("200", RawClient.codes(RawClient.sendAndReadAll(server.port(), RawClient.get("/late"))));
    }
  }
}
