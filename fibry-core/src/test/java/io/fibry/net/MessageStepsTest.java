package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordingObserver;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that context propagators observe the messages, lines and frames of connections. */
class MessageStepsTest {
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private RecordingObserver observer = new RecordingObserver();
  private ServerScope net;

  @AfterEach
  void close() {
    net.close();
  }

  /** Notes the step that is open, and fails at some texts. */
  private void handle(String text) throws IOException {
    seen.add(text + " in " + observer.current());
    switch (text) {
      case "bad" -> throw new IllegalStateException("bad text");
      case "refused" -> throw new HttpException(400, "refused text");
      default -> {}
    }
  }

  /** Sends texts on a WebSocket, and waits until the connection and its steps have ended. */
  private void talk(String... texts) {
    net = new ServerScope(options -> options.withContextPropagator(observer));
    var routes = HttpRoutes.none().webSocket("/rooms/{room}", connection -> {
      for (var text : connection.texts()) handle(text);
      seen.add("end in " + observer.current());
    });
    var server = HttpServer.open(net.scope.named("web"), 0, routes, o -> o);
    try (var client = HttpClient.newHttpClient()) {
      var socket = Patience.value(client.newWebSocketBuilder().buildAsync(
          URI.create("ws://localhost:" + server.port() + "/rooms/tea"), new WebSocket.Listener() {}));
      for (int i = 0; i < texts.length; i++) {
        Patience.value(socket.sendText(texts[i], true));
        int count = i + 1;
        Patience.eventually(() -> seen.size() == count);
      }
      socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
      Patience.eventually(() -> observer.calls.contains("close GET /rooms/{room}"));
      socket.abort();
    }
  }

  private List<String> messageCalls() {
    return observer.calls.stream().filter(call -> !call.contains("GET") && !call.equals("ended 101")).toList();
  }

  @Promise("14.18")
  @Test
  void messagesOfWebSocketAreStepsWithinItsExchange() {
    talk("a", "b");

    assertEquals(List.of("begin CLIENT_MESSAGE /rooms/{room}", "ended done", "close /rooms/{room}",
        "begin CLIENT_MESSAGE /rooms/{room}", "ended done", "close /rooms/{room}"), messageCalls());
    assertEquals(List.of("a in /rooms/{room}", "b in /rooms/{room}", "end in GET /rooms/{room}"), seen);
    var step = observer.steps.get(1);
    assertEquals(Map.of("http.route", "/rooms/{room}", "url.path", "/rooms/tea", "network.protocol.name", "websocket"),
        step.attributes());
    assertEquals(Map.of(), step.senderTexts());
  }

  @Promise("14.18")
  @ParameterizedTest
  @CsvSource({"bad, ended failed bad text", "refused, ended done"})
  void messageHasFailureIfHandlerThrows(String text, String end) {
    talk(text);

    assertEquals(List.of("begin CLIENT_MESSAGE /rooms/{room}", end, "close /rooms/{room}"), messageCalls());
  }

  @Promise("14.17")
  @ParameterizedTest
  @ValueSource(strings = {"begin", "ended", "close"})
  void brokenObserverDisturbsNoMessage(String failingCall) {
    observer = new RecordingObserver(failingCall);
    net = new ServerScope(options -> options.withContextPropagator(observer));
    var acceptor = TcpAcceptor.open(net.scope.anonymous(), 0, connection -> {
      for (var line : connection.lines()) seen.add(line);
    }, o -> o);

    send(acceptor, "a\nb\n");

    assertEquals(List.of("a", "b"), seen);
  }

  private static void send(TcpAcceptor acceptor, String bytes) {
    try (var client = new RawClient(acceptor.port())) {
      client.send(bytes);
      client.socket.shutdownOutput();
      assertEquals("", client.readToEnd());
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  @Promise("14.18")
  @Test
  void linesOfTcpConnectionAreSteps() {
    net = new ServerScope(options -> options.withContextPropagator(observer));
    var acceptor = TcpAcceptor.open(net.scope.named("chat"), 0, connection -> {
      for (var line : connection.lines()) handle(line);
    }, o -> o);

    send(acceptor, "a\nbad\n");
    Patience.eventually(() -> observer.calls.size() == 6);

    assertEquals(List.of("begin CLIENT_MESSAGE chat", "ended done", "close chat", "begin CLIENT_MESSAGE chat",
        "ended failed bad text", "close chat"), observer.calls);
    assertEquals(List.of("a in chat", "bad in chat"), seen);
    assertEquals(Map.of("network.transport", "tcp"), observer.steps.getFirst().attributes());
  }

  @Promise("14.18")
  @Test
  void frameThatHandlerLeavesEndsWithConnection() {
    net = new ServerScope(options -> options.withContextPropagator(observer));
    var acceptor = TcpAcceptor.open(net.scope.anonymous(), 0, connection -> connection.frames().iterator().next(),
        o -> o);

    send(acceptor, "\0\0\0\1x");
    Patience.eventually(() -> observer.calls.size() == 3);

    assertEquals(List.of("begin CLIENT_MESSAGE ", "ended done", "close "), observer.calls);
  }
}
