package io.fibry.web;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.RequestException;
import io.fibry.net.HttpException;
import io.javalin.Javalin;
import io.javalin.http.Context;
import io.javalin.http.sse.SseClient;
import io.javalin.websocket.WsConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.websocket.api.Callback;

/** The shop behind Javalin, which runs each request on a virtual thread of Jetty. */
final class JavalinShop {
  private static final String SUBSCRIBER = "subscriber";

  private JavalinShop() {}

  static RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options, int port) {
    var shop = new Shop(ActorSystem.openScope("shop", options), warehouse);
    var app = Javalin.create(config -> {
      config.concurrency.useVirtualThreads = true;
      config.startup.showJavalinBanner = false;
      config.jetty.modifyServer(server -> server.setStopTimeout(10_000)); // ms for running requests
      config.routes.post("/orders", context -> context.result(shop.order(context.body())));
      config.routes.sse("/news", client -> sendNews(shop, client));
      config.routes.ws("/news/socket", socket -> sendNews(shop, socket));
      config.routes.exception(RequestException.class, JavalinShop::refuse);
      config.routes.exception(HttpException.class, JavalinShop::refuse);
    }).start("localhost", port);
    return new RunningShop(shop, app.port(), () -> shop.close(app::stop));
  }

  private static void refuse(Exception failure, Context context) {
    int status = HttpException.statusOf(failure);
    if (status == 503) context.header("Retry-After", "1");
    context.status(status);
  }

  private static void sendNews(Shop shop, SseClient client) {
    client.keepAlive();
    var subscriber = shop.subscribe(new Shop.Client() {
      @Override
      public void send(String text) throws IOException {
        client.sendEvent(text);
        requireConnected();
      }

      @Override
      public void ping() throws IOException {
        client.sendComment("ping");
        requireConnected();
      }

      /** Throws because Javalin reports no failed write to the sender. */
      private void requireConnected() throws IOException {
        if (client.terminated()) throw new IOException("the client has disconnected");
      }
    });
    client.onClose(subscriber::askExit);
    subscriber.onExit().thenRun(client::close);
  }

  private static void sendNews(Shop shop, WsConfig socket) {
    socket.onConnect(context -> {
      var session = context.session;
      var subscriber = shop.subscribe(new Shop.Client() {
        @Override
        public void send(String text) throws Exception {
          Callback.Completable.with(written -> session.sendText(text, written)).get();
        }

        @Override
        public void ping() throws Exception {
          Callback.Completable.with(written -> session.sendPing(ByteBuffer.allocate(0), written)).get();
        }
      });
      context.attribute(SUBSCRIBER, subscriber);
      subscriber.onExit().thenAccept(reason -> {
        if (reason instanceof ExitReason.Failed) session.disconnect();
        else session.close(1001, "the news end", Callback.NOOP);
      });
    });
    socket.onClose(context -> {
      if (context.attribute(SUBSCRIBER) instanceof Exitable subscriber) subscriber.askExit();
    });
  }
}
