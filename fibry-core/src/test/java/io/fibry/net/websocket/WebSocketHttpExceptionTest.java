package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.ServerScope;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what the client of a WebSocket learns from an {@link HttpException}. */
class WebSocketHttpExceptionTest {
  // the clock does not advance, because otherwise a client would have only two seconds to close
  private final ServerScope net = new ServerScope(o -> o.withScheduler(new ManualScheduler()));
  private HttpServer server;

  @AfterEach
  void close() {
    net.close();
  }

  private void open(HttpRoutes routes) {
    server = HttpServer.open(net.scope.named("web"), 0, routes, o -> o);
  }

  private WebSocketPeer openThatThrows(int status, String text) {
    open(HttpRoutes.none().webSocket("/", connection -> {
      throw new HttpException(status, text);
    }));
    return new WebSocketPeer(server.port(), "/");
  }

  @Promise("27.42")
  @ParameterizedTest
  @CsvSource({"302, 1008", "404, 1008", "499, 1008", "500, 1011", "502, 1011", "503, 1013"})
  void httpExceptionClosesWebSocketWithItsText(int status, int code) {
    try (var logged = new Logged(); var peer = openThatThrows(status, "no room 'äöü'")) {
      var frame = peer.next();

      assertEquals("close " + code, frame.toString());
      assertTrue(frame.text().endsWith("no room 'äöü'"), frame::text);
      peer.close(code);
      assertEquals(List.of("end"), peer.readToEnd());
      assertEquals(code == 1011, logged.text().contains("of GET / was answered 1011"), logged::text);
    }
  }

  @Promise("27.42")
  @Test
  void longTextOfHttpExceptionIsCutInCloseFrame() {
    try (var peer = openThatThrows(404, "ä".repeat(1_000))) {
      var frame = peer.next();

      assertEquals("close 1008", frame.toString());
      assertTrue(frame.text().matches("(?s)..ä{61}"), frame::text); // after the two bytes of the code
      peer.close(1008);
    }
  }

  @Promise("27.42")
  @Test
  void httpExceptionBeforeUpgradeIsResponse() throws IOException {
    open(HttpRoutes.none().webSocket("/", connection -> {}).intercept((exchange, next) -> {
      throw new HttpException(404, "no such room");
    }));
    try (var logged = new Logged()) {
      var response = RawClient.sendAndReadAll(server.port(),
          WebSocketPeer.request("/", "Connection: close"));

      assertTrue(response.startsWith("HTTP/1.1 404 ") && response.contains("no such room"), response);
      assertEquals("", logged.entriesAbout("HTTP server"));
    }
  }
}
