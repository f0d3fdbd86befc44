package io.fibry.web;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.RequestException;
import io.fibry.net.HttpException;
import io.helidon.common.buffers.BufferData;
import io.helidon.http.HeaderNames;
import io.helidon.http.sse.SseEvent;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.sse.SseSink;
import io.helidon.webserver.websocket.WsRouting;
import io.helidon.websocket.WsListener;
import io.helidon.websocket.WsSession;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** The shop behind Helidon, which runs each request on a virtual thread, also over HTTP/2. */
final class HelidonShop {
  private HelidonShop() {}

  static RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options, int port) {
    var shop = new Shop(ActorSystem.openScope("shop", options), warehouse);
    var routes = HttpRouting.builder()
        .post("/orders", (request, response) -> response.send(shop.order(request.content().as(String.class))))
        .get("/news", (request, response) -> sendNews(shop, response))
        .error(RequestException.class, HelidonShop::refuse)
        .error(HttpException.class, HelidonShop::refuse);
    var sockets = WsRouting.builder().endpoint("/news/socket", () -> new NewsSocket(shop));
    var server = WebServer.builder().host("localhost").port(port).addRouting(routes).addRouting(sockets)
        .shutdownHook(false).shutdownGracePeriod(Duration.ofSeconds(10)).build().start();
    return new RunningShop(shop, server.port(), () -> shop.close(server::stop));
  }

  private static void refuse(ServerRequest request, ServerResponse response, RuntimeException failure) {
    int status = HttpException.statusOf(failure);
    if (status == 503) response.header(HeaderNames.RETRY_AFTER, "1");
    response.status(status).send();
  }

  private static void sendNews(Shop shop, ServerResponse response) {
    try (var sink = response.sink(SseSink.TYPE)) {
      var subscriber = shop.subscribe(new Shop.Client() {
        @Override
        public void send(String text) {
          sink.emit(SseEvent.create(text));
        }

        @Override
        public void ping() {
          sink.emit(SseEvent.builder().comment("ping").build());
        }
      });
      subscriber.waitForExit(); // the response ends with this request
    }
  }

  /** A client's WebSocket, whose methods are called by the thread of its connection. */
  private static final class NewsSocket implements WsListener {
    private final Shop shop;
    private Exitable subscriber; // null before the WebSocket is open

    NewsSocket(Shop shop) {
      this.shop = shop;
    }

    @Override
    public void onOpen(WsSession session) {
      subscriber = shop.subscribe(new Shop.Client() {
        @Override
        public void send(String text) {
          session.send(text, true);
        }

        @Override
        public void ping() {
          session.ping(BufferData.empty());
        }
      });
      subscriber.closeOnExit(() -> sayGoodbye(session)); // the actor has ended only after that
    }

    private static void sayGoodbye(WsSession session) {
      try {
        session.close(1001, "the news end");
      } catch (RuntimeException disconnected) {
        // The client has disconnected first.
      }
    }

    @Override
    public void onPing(WsSession session, BufferData payload) {
      session.pong(payload);
    }

    @Override
    public void onClose(WsSession session, int status, String reason) {
      subscriber.askExit();
    }
  }
}
