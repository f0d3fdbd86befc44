package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
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

/** A client as an actor that takes events. */
@SuppressWarnings("try") // an actor is not always closed where it is made
class ServerSentEventsTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("events", o -> o.withScheduler(clock));
  private final CompletableFuture<Actor<String>> made = new CompletableFuture<>();
  private final CompletableFuture<Void> returned = new CompletableFuture<>();
  private HttpServer server;

  private void open(String strategy) {
    server = HttpServer.open(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 0,
        HttpRoutes.none().stream("/", exchange -> {
          made.complete(exchange.eventActor());
          assertSame(made.join(), exchange.eventActor());
          made.join().waitForExit();
          returned.complete(null);
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
  void messageIsAnEventAtOnce(String strategy) throws IOException {
    open(strategy);
    try (var client = subscribe()) {
      var actor = Patience.value(made);

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

      assertEquals("data: last\n\n", client.all());
      Patience.value(returned);
    }
  }

  @Test
  void quietStreamFindsOutThatItsClientIsGone() throws IOException {
    open("FIBER");
    var client = subscribe();
    var actor = Patience.value(made);
    lines(client, 6);

    clock.advance(Duration.ofSeconds(15));
    assertEquals(":\n\n", lines(client, 2));
    client.close();

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(15));
      return actor.onExit().isDone();
    });
    Patience.value(returned);
  }

  @Promise("27.10")
  @Test
  void topicForgetsAClientThatIsGone() throws IOException {
    Topic<String> news = Topic.open(scope.anonymous());
    open("FIBER");
    try (var client = subscribe()) {
      var subscription = news.subscribe(Patience.value(made));
      news.publish("hello");
      lines(client, 6);
      assertEquals("data: hello\n\n", lines(client, 2));
      client.socket.setSoLinger(true, 0);
      client.close();

      Patience.eventually(() -> {
        news.publish("anybody there?");
        LockSupport.parkNanos(1_000_000);
        return made.join().onExit().isDone();
      });
      subscription.close();
    }
  }

  @Promise("27.10")
  @Test
  void clientThatDoesNotReadIsCutOffAndNobodyWaitsForIt() throws IOException {
    open("FIBER");
    try (var client = subscribe()) {
      var actor = Patience.value(made);
      var event = "x".repeat(100_000);

      int sent = 0;
      while (actor.sendMessage(event)) assertTrue(++sent < 100_000, "nobody is cut off");

      Patience.ended(actor::waitForExit);
      Patience.value(returned);
      assertFalse(client.all().isEmpty());
    }
  }

  @Test
  void endOfTheServerEndsTheStreamAfterWhatWasSent() throws IOException {
    open("FIBER");
    try (var client = subscribe()) {
      Patience.value(made).sendMessage("last");

      server.close(); // without waiting for the drain limit, since time is stopped

      assertTrue(client.all().endsWith("data: last\n\n"));
      assertTrue(returned.isDone());
    }
  }

  @Test
  void streamEndsWhenItsHandlerReturns() throws IOException {
    server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().stream("/", exchange -> {
      exchange.eventActor().sendMessage("hello");
      made.complete(exchange.eventActor());
    }).stream("/late", exchange -> {
      exchange.outputStream().flush();
      assertThrows(IllegalStateException.class, exchange::eventActor);
    }), o -> o);
    try (var client = subscribe()) {
      assertTrue(client.all().endsWith("data: hello\n\n"));
      Patience.ended(Patience.value(made)::waitForExit);
      assertEquals("200", RawClient.codes(RawClient.talk(server.port(), RawClient.get("/late"))));
    }
  }
}
