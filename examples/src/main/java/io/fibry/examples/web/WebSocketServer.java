package io.fibry.examples.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.logging.LogManager;
import robaho.net.httpserver.DefaultHttpServerProvider;
import robaho.net.httpserver.websockets.WebSocket;
import robaho.net.httpserver.websockets.WebSocketHandler;

/** A third-party server for WebSockets, on a free port. */
public final class WebSocketServer implements AutoCloseable {
  private final HttpServer server;

  public WebSocketServer(Function<HttpExchange, WebSocket> sockets) throws IOException {
    LogManager.getLogManager().reset(); // the server logs each connection
    var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    server = new DefaultHttpServerProvider().createHttpServer(loopback, 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", new WebSocketHandler() {
      @Override
      protected WebSocket openWebSocket(HttpExchange exchange) {
        return sockets.apply(exchange);
      }
    });
    server.start();
  }

  public URI address(String query) {
    return URI.create("ws://localhost:" + server.getAddress().getPort() + "/?" + query);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
