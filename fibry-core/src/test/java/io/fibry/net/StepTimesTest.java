package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the times of exchanges, lines and WebSocket messages, which a context propagator gets. */
class StepTimesTest {
  private final List<Duration> times = new CopyOnWriteArrayList<>();

  /** Records the times of steps, as the meters of a library do. */
  private final class StepTimer implements ContextPropagator<Object> {
    @Override
    public Object capture() {
      return times;
    }

    @Override
    public AutoCloseable restore(Object context) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AutoCloseable restore(Object context, Actor<?> actor, Object message) {
      return message instanceof MultiStepMessage steps ? steps.onStepEnd(times::add) : () -> {};
    }
  }

  private final ServerScope net = new ServerScope(o -> o.withContextPropagator(new StepTimer()));
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    client.shutdownNow();
    net.close();
  }

  private HttpServer open(HttpRoutes routes) {
    return HttpServer.open(net.scope.anonymous(), 0, routes, o -> o);
  }

  private static URI uri(String scheme, HttpServer server, String path) {
    return URI.create(scheme + "://localhost:" + server.port() + path);
  }

  private WebSocket connect(HttpServer server) {
    return Patience.value(client.newWebSocketBuilder().buildAsync(uri("ws", server, "/"), new WebSocket.Listener() {}));
  }

  private void awaitTimes(int count) {
    Patience.eventually(() -> times.size() == count);
  }

  @Promise("19.16")
  @Test
  void timeOfEachExchangeIsMeasured() throws Exception {
    var server = open(HttpRoutes.none().text("/", exchange -> "hello"));

    for (int i = 1; i <= 3; i++) {
      client.send(HttpRequest.newBuilder(uri("http", server, "/")).build(), BodyHandlers.ofString());
      awaitTimes(i); // the connection stays open
    }

    assertTrue(times.stream().allMatch(Duration::isPositive), times::toString);
    assertEquals(3, net.scope.report().handled());
  }

  @Promise({"19.14", "19.16"})
  @Test
  void timeOfEachWebSocketMessageIsMeasured() {
    var server = open(HttpRoutes.none().webSocket("/", connection -> connection.texts().forEach(text -> {})));
    var webSocket = connect(server);
    awaitTimes(1); // the exchange of the handshake

    for (int i = 2; i <= 4; i++) {
      Patience.value(webSocket.sendText("hello", true));
      awaitTimes(i);
    }
    assertEquals(4, net.scope.report().handled());
    webSocket.abort();
    Patience.eventually(() -> server.stats().getFirst().openWebSockets() == 0);

    assertEquals(4, times.size());
    assertEquals(4, net.scope.report().handled());
  }

  @Promise("19.16")
  @Test
  void timeOfLastWebSocketMessageEndsWhenHandlerReturns() {
    var server = open(HttpRoutes.none().webSocket("/", connection -> {
      for (var text : connection.texts()) if (text.equals("last")) return;
    }));
    var webSocket = connect(server);

    Patience.value(webSocket.sendText("first", true));
    Patience.value(webSocket.sendText("last", true));

    awaitTimes(3);
    Patience.eventually(() -> net.scope.report().handled() == 3);
  }

  @Promise("19.16")
  @Test
  void timeOfEachLineIsMeasured() throws Exception {
    var server = net.open(connection -> connection.lines().forEach(line -> {}));
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write("one\ntwo\nthree\n".getBytes());

      Patience.eventually(() -> net.scope.report().handled() == 3);
      awaitTimes(3);
    }
  }

  @Promise("19.16")
  @Test
  void timeOfEventStreamExcludesWaitForClient() throws Exception {
    var eventActor = new CompletableFuture<Actor<String>>();
    var server = open(HttpRoutes.none().stream("/", exchange -> {
      eventActor.complete(exchange.eventActor());
      eventActor.join().waitForExit();
    }));
    long startNanos = System.nanoTime();
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes());
      var actor = Patience.value(eventActor); // the wait for the client has begun
      waitAtLeast(50);
      actor.sendPoisonPill();
      awaitTimes(1);
    }

    long remainingNanos = System.nanoTime() - startNanos - 50_000_000;
    assertTrue(times.getFirst().toNanos() <= remainingNanos, times::toString);
  }

  private static void waitAtLeast(int millis) {
    long startNanos = System.nanoTime();
    Patience.eventually(() -> System.nanoTime() - startNanos >= millis * 1_000_000L);
  }
}
