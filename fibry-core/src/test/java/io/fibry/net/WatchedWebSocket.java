package io.fibry.net;

import io.fibry.Handler;
import java.util.concurrent.CompletableFuture;

/** The first WebSocket of a route, and how its handler ended. Thread-safe. */
final class WatchedWebSocket {
  final CompletableFuture<WebSocketConnection> connected = new CompletableFuture<>();
  final CompletableFuture<Object> outcome = new CompletableFuture<>(); // "returned", or what it threw

  Handler<WebSocketConnection> by(Handler<WebSocketConnection> handler) {
    return connection -> {
      connected.complete(connection);
      try {
        handler.handle(connection);
        outcome.complete("returned");
      } catch (Throwable failure) {
        outcome.complete(failure);
        throw failure;
      }
    };
  }
}
